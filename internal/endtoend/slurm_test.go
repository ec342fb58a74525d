// SPDX-License-Identifier: Apache-2.0

package endtoend_test

import (
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/endtoend"
	"incforge/internal/jobs"
	"incforge/internal/jobs/slurmtest"
	"incforge/internal/testcost"
)

var shared = flag.String("shared", "", "try planted faults as an array of Slurm jobs, with their files in this folder that all machines see (make faults ON=slurm)")

// anywhere is where the flags say.
func anywhere() jobs.Place {
	if *shared == "" {
		return jobs.Place{}
	}
	return cluster("TestFaultsAreCaught", *shared)
}

// cluster is a place whose jobs run a test of this program.
func cluster(test, folder string) jobs.Place {
	return jobs.Place{Slurm: &jobs.Slurm{Folder: folder, Args: []string{"-test.run=^" + test + "$"}, Log: logrus.StandardLogger()}}
}

// caughtOn finds what catches each fault of the models, wherever it is tried. It calls known, if not nil, whenever it knows of one more.
func caughtOn(t *testing.T, where jobs.Place, all []*planted, known func(faults int)) map[*planted][]catch {
	t.Helper()
	type piece struct {
		*planted
		fault int
	}
	var pieces []piece
	found := map[*planted][]catch{}
	for _, p := range all {
		found[p] = make([]catch, len(p.Faults))
		for i := range p.Faults {
			pieces = append(pieces, piece{p, i})
		}
	}
	done := 0
	err := jobs.Run(testcost.Context(t), where, jobs.Task[catch]{Name: "faults", Pieces: len(pieces),
		Run: func(ctx context.Context, i int) (catch, error) { return pieces[i].catch(ctx, pieces[i].fault) },
		Done: func(i int, c catch) error {
			found[pieces[i].planted][pieces[i].fault] = c
			if done++; known != nil {
				known(done)
			}
			return nil
		}})
	if !errors.Is(err, jobs.ErrServed) {
		require.NoError(t, err)
	}
	return found
}

// TestFaultsOnSlurm: what catches a fault does not depend on where that is tried, not even if a machine dies meanwhile.
func TestFaultsOnSlurm(t *testing.T) {
	var nodes *slurmtest.Cluster
	if !jobs.Shard() {
		nodes = slurmtest.Start(t, "a", "b")
	}
	one := endtoend.Models()[0]
	one.Faults = one.Faults[:12]
	all := plantAll(t, []endtoend.Model{one})
	here := caughtOn(t, jobs.Place{Jobs: 2}, all, nil)
	if jobs.Shard() {
		return
	}
	there := caughtOn(t, cluster(t.Name(), t.TempDir()), all, func(faults int) {
		if faults == 4 {
			nodes.Kill("b")
		}
	})
	assert.Equal(t, here, there)
	for i, c := range there[all[0]] {
		assert.NotEmpty(t, c.Scenario, one.Faults[i].Name)
	}
}
