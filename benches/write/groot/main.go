// Writes trees of floats with groot, without compression: groot flat|jagged|vector MEGABYTES PATH. Prints seconds of
// processor time from the file's beginning to its end, for values that are in memory.
//
// It is built in a module that requires go-hep.org/x/hep, and compared with the example write_speed of the crate
// forthwith-ttree.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"syscall"

	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/riofs"
	"go-hep.org/x/hep/groot/rtree"
)

func used() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func main() {
	shape, path := os.Args[1], os.Args[3]
	megabytes, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	values := make([]float32, megabytes*250_000)
	for i := range values {
		values[i] = rand.Float32()
	}
	var counts []int32
	for left := int32(len(values)); left > 0; {
		n := min(rand.Int31n(16), left)
		counts = append(counts, n)
		left -= n
	}
	begin := used()
	file, err := groot.Create(path, riofs.WithoutCompression())
	if err != nil {
		panic(err)
	}
	var n int32
	var x float32
	var xs []float32
	vars := []rtree.WriteVar{{Name: "x", Value: &x}}
	if shape == "jagged" {
		vars = []rtree.WriteVar{{Name: "nx", Value: &n}, {Name: "x", Value: &xs, Count: "nx"}}
	}
	if shape == "vector" {
		vars = []rtree.WriteVar{{Name: "x", Value: &xs}}
	}
	writer, err := rtree.NewWriter(file, "t", vars, rtree.WithoutCompression())
	if err != nil {
		panic(err)
	}
	write := func() {
		if _, err := writer.Write(); err != nil {
			panic(err)
		}
	}
	if shape == "flat" {
		for _, x = range values {
			write()
		}
	} else {
		at := 0
		for _, n = range counts {
			xs = values[at : at+int(n)]
			at += int(n)
			write()
		}
	}
	if err := writer.Close(); err != nil {
		panic(err)
	}
	if err := file.Close(); err != nil {
		panic(err)
	}
	fmt.Println(used() - begin)
}
