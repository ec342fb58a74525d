package modelcheck

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

func atoi(k string, d int) int {
	v, err := strconv.Atoi(os.Getenv(k))
	if err != nil {
		return d
	}
	return v
}

func TestQuick(t *testing.T) {
	colls := []Collective{Reduce, Broadcast, AllReduce}
	if os.Getenv("C") != "" {
		c, _ := ParseCollective(os.Getenv("C"))
		colls = []Collective{c}
	}
	for _, coll := range colls {
		o := Options{Symmetry: atoi("SYM", 1) == 1, Reduction: atoi("RED", 1) == 1}
		o.MaxTime = time.Duration(atoi("T", 60)) * time.Second
		tree := os.Getenv("TREE")
		if tree == "" {
			tree = "3-2"
		}
		r, err := Check(context.Background(), Config{Mode: atoi("MODE", 3), Collective: coll, Tree: tree, Requests: atoi("R", 3), Window: atoi("W", 3), Slots: atoi("N", 0), Loss: atoi("L", 1), Free: atoi("FREE", 0) == 1, Early: atoi("EARLY", 0), Dup: atoi("DUP", 0), Reorder: atoi("REO", 0), RNR: atoi("RNR", 0)}, o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%v %v sym %d red %v: %d / %d diam %d quiet %d done %d comps %d steps %d %.2fs cpu %.2f %v\n", coll, r.Complete, r.Symmetry, r.Reduction, r.Transitions, r.Distinct, r.Diameter, r.Quiescent, r.Done, r.Components, r.EngineSteps, r.Seconds, r.CPUSeconds, r.Violation)
	}
}
