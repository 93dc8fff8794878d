// Command groot reads branches of a tree with groot, and prints their values: groot FILE TREE BRANCH...
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"reflect"
	"strings"

	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/rdict"
	"go-hep.org/x/hep/groot/riofs"
	"go-hep.org/x/hep/groot/rtree"
)

// Files have no descriptions of containers, and groot opens no tree with containers of others unless it knows them.
var nested = []any{
	[][]float32{}, [][]float64{}, [][]int32{}, [][]int64{}, [][][]float64{}, [][][]int64{}, [][]string{},
}

func register() {
	for _, value := range nested {
		info := rdict.StreamerOf(rdict.StreamerInfos, reflect.TypeOf(value))
		for _, version := range []int{6, info.ClassVersion()} {
			rdict.StreamerInfos.Add(rdict.NewStreamerInfo(info.Name(), version, info.Elements()))
		}
	}
}

// plain makes numbers, texts and lists of a value. Bytes are numbers, too.
func plain(value reflect.Value) any {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		return plain(value.Elem())
	case reflect.Slice, reflect.Array:
		items := make([]any, value.Len())
		for at := range items {
			items[at] = plain(value.Index(at))
		}
		return items
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return value.Int()
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return value.Uint()
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(value.Float()) {
			return nil
		}
		return value.Float()
	default:
		return value.Interface()
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(tree rtree.Tree, name string) []any {
	var found []rtree.ReadVar
	for _, variable := range rtree.NewReadVars(tree) {
		if variable.Name == name || strings.SplitN(variable.Name, "[", 2)[0] == name {
			found = append(found, variable)
		}
	}
	if len(found) != 1 {
		log.Fatalf("%d branches are called %q", len(found), name)
	}
	reader, err := rtree.NewReader(tree, found)
	check(err)
	defer reader.Close()
	values := []any{}
	check(reader.Read(func(rtree.RCtx) error {
		values = append(values, plain(reflect.ValueOf(found[0].Value)))
		return nil
	}))
	return values
}

func main() {
	register()
	file, err := groot.Open(os.Args[1])
	check(err)
	defer file.Close()
	object, err := riofs.Dir(file).Get(os.Args[2])
	check(err)
	values := map[string][]any{}
	for _, name := range os.Args[3:] {
		values[name] = read(object.(rtree.Tree), name)
	}
	text, err := json.Marshal(values)
	check(err)
	fmt.Println(string(text))
}
