// SPDX-License-Identifier: Apache-2.0

package modelcheck

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/modelcheck/model"
	"incforge/modelcheck/scenario"
)

// Switches are parked whenever they are drained and unparked at any time, among all orders of deliveries and a loss: everything ends, exactly.
func TestParking(t *testing.T) {
	for _, c := range []model.Config{
		{Mode: 2, Collective: model.AllReduce, Tree: "star-2", Requests: 3, Window: 1, Loss: 1, Park: 2},
		{Mode: 2, Collective: model.Reduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1, Park: 2},
		{Mode: 2, Collective: model.Broadcast, Tree: "star-2", Requests: 2, Window: 1, Loss: 1, Park: 2},
		{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1, Park: 2},
		{Mode: 3, Collective: model.Reduce, Tree: "chain-1", Requests: 2, Window: 1, Loss: 1, Park: 2},
		{Mode: 1, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1, Park: 2},
		{Mode: 1, Collective: model.Reduce, Tree: "chain-1", Requests: 2, Window: 1, Loss: 1, Park: 2},
	} {
		t.Run(c.String(), func(t *testing.T) {
			without := c
			without.Park = 0
			found := check(t, c, Options{Symmetry: true, Reduction: true})
			assert.Nil(t, found.Violation)
			assert.True(t, found.Complete)
			assert.Greater(t, found.Distinct, check(t, without, Options{Symmetry: true, Reduction: true}).Distinct, "nothing was parked")
		})
	}
}

// What must not be done when a group is parked shows in small models.
func TestParkingWrong(t *testing.T) {
	for _, c := range []struct {
		rule string
		mode int
		kind string
	}{
		{"park-busy", 2, scenario.KindLivelock}, {"old-psn", 2, scenario.KindLivelock},
		{"park-busy", 3, scenario.KindFault}, {"old-psn", 3, scenario.KindLivelock},
		{"park-busy", 1, scenario.KindFault}, {"old-psn", 1, scenario.KindLivelock},
	} {
		t.Run(c.rule, func(t *testing.T) {
			found, err := Smallest(context.Background(), c.mode, []string{c.rule}, Options{Symmetry: true, Reduction: true})
			require.NoError(t, err)
			assert.Equal(t, c.kind, found.Violation.Kind)
			assert.Nil(t, found.Right.Violation)
			chartOf(t, found.Violation)
		})
	}
}
