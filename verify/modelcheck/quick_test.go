package modelcheck

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestQuick(t *testing.T) {
	for _, coll := range []Collective{Reduce, Broadcast, AllReduce} {
		for _, o := range []Options{{Symmetry: true, Reduction: true}, {Reduction: true}, {Symmetry: true}} {
			o.MaxTime = 100 * time.Second
			r, err := Check(context.Background(), Config{Mode: 2, Collective: coll, Tree: "3-2", Requests: 3, Window: 3, Loss: 1}, o)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Printf("%v %v sym %d red %v: %d / %d diam %d quiet %d done %d comps %d steps %d %.2fs cpu %.2f %v\n", coll, r.Complete, r.Symmetry, r.Reduction, r.Transitions, r.Distinct, r.Diameter, r.Quiescent, r.Done, r.Components, r.EngineSteps, r.Seconds, r.CPUSeconds, r.Violation)
		}
	}
}
