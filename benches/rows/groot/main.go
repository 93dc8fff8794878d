// The loops of crates/forthwith/examples/rows.rs by groot: groot sum|dimuon|write|write-zstd FILE REPETITIONS.
//
// It is built with the go.mod and go.sum of tests/readers/groot.
package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"go-hep.org/x/hep/groot"
	"go-hep.org/x/hep/groot/riofs"
	"go-hep.org/x/hep/groot/rtree"
)

type one struct {
	X float32 `groot:"x"`
}

type event struct {
	Run      uint32    `groot:"run"`
	Event    uint64    `groot:"event"`
	Met      float32   `groot:"met"`
	N        int32     `groot:"nMuon"`
	Pt       []float32 `groot:"Muon_pt[nMuon]"`
	Eta      []float32 `groot:"Muon_eta[nMuon]"`
	Phi      []float32 `groot:"Muon_phi[nMuon]"`
	Mass     []float32 `groot:"Muon_mass[nMuon]"`
	Charge   []int32   `groot:"Muon_charge[nMuon]"`
	Iso      []float32 `groot:"Muon_iso[nMuon]"`
	Dxy      []float32 `groot:"Muon_dxy[nMuon]"`
	Dz       []float32 `groot:"Muon_dz[nMuon]"`
	ID       []int32   `groot:"Muon_id[nMuon]"`
	PtError  []float32 `groot:"Muon_pt_error[nMuon]"`
	DxyError []float32 `groot:"Muon_dxy_error[nMuon]"`
	DzError  []float32 `groot:"Muon_dz_error[nMuon]"`
	Distance []float32 `groot:"Muon_distance[nMuon]"`
	Jet      []int32   `groot:"Muon_jet[nMuon]"`
	Stations []uint8   `groot:"Muon_stations[nMuon]"`
	IsTight  []bool    `groot:"Muon_is_tight[nMuon]"`
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// read calls a function for each entry, after the variables were filled.
func read(path string, into any, each func()) {
	file, err := groot.Open(path)
	check(err)
	defer file.Close()
	object, err := file.Get("events")
	check(err)
	reader, err := rtree.NewReader(object.(rtree.Tree), rtree.ReadVarsFromStruct(into))
	check(err)
	defer reader.Close()
	check(reader.Read(func(rtree.RCtx) error {
		each()
		return nil
	}))
}

func sum(path string) float64 {
	var row one
	total := 0.0
	read(path, &row, func() { total += float64(row.X) })
	return total
}

func dimuon(path string) float64 {
	var e event
	total := 0.0
	read(path, &e, func() {
		total += float64(e.Run) + float64(e.Event%2)
		if e.N > 0 {
			floats := e.Phi[0] + e.Mass[0] + e.Iso[0] + e.Dxy[0] + e.Dz[0] + e.Distance[0]
			tight := int32(0)
			if e.IsTight[0] {
				tight = 1
			}
			total += float64(floats) + float64(e.PtError[0]+e.DxyError[0]+e.DzError[0])
			total += float64(e.ID[0] + e.Jet[0] + int32(e.Stations[0]) + tight)
		}
		if e.N != 2 || e.Charge[0] == e.Charge[1] || e.Met > 100 {
			return
		}
		angles := math.Cosh(float64(e.Eta[0]-e.Eta[1])) - math.Cos(float64(e.Phi[0]-e.Phi[1]))
		total += math.Sqrt(float64(2*e.Pt[0]*e.Pt[1]) * angles)
	})
	return total
}

func copied[T any](values []T) []T { return append([]T(nil), values...) }

// events gives all events of a file, whose slices are their own.
func events(path string) []event {
	var e event
	var all []event
	read(path, &e, func() {
		all = append(all, event{
			e.Run, e.Event, e.Met, e.N, copied(e.Pt), copied(e.Eta), copied(e.Phi), copied(e.Mass), copied(e.Charge),
			copied(e.Iso), copied(e.Dxy), copied(e.Dz), copied(e.ID), copied(e.PtError), copied(e.DxyError),
			copied(e.DzError), copied(e.Distance), copied(e.Jet), copied(e.Stations), copied(e.IsTight),
		})
	})
	return all
}

// write has levels of zstd from 1 to 4, of which 3 is the nearest to that of the others.
func write(all []event, path string, zstd bool) float64 {
	ofFile, ofTree := riofs.WithoutCompression(), rtree.WithoutCompression()
	if zstd {
		ofFile, ofTree = riofs.WithZstd(3), rtree.WithZstd(3)
	}
	file, err := groot.Create(path, ofFile)
	check(err)
	var e event
	writer, err := rtree.NewWriter(file, "events", rtree.WriteVarsFromStruct(&e), ofTree)
	check(err)
	for _, e = range all {
		_, err = writer.Write()
		check(err)
	}
	check(writer.Close())
	check(file.Close())
	return float64(len(all))
}

func main() {
	way, path := os.Args[1], os.Args[2]
	repetitions, err := strconv.Atoi(os.Args[3])
	check(err)
	loop := map[string]func() float64{
		"sum":    func() float64 { return sum(path) },
		"dimuon": func() float64 { return dimuon(path) },
	}[way]
	if way == "write" || way == "write-zstd" {
		all := events(path)
		loop = func() float64 { return write(all, path+".groot.root", way == "write-zstd") }
	}
	for range repetitions {
		start := time.Now()
		total := loop()
		fmt.Printf("%s %.2f ms %.6e\n", way, float64(time.Since(start).Microseconds())/1000, total)
	}
}
