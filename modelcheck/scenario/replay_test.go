// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/modelcheck/model"
)

// Scenarios that cannot happen are refused, in words.
func TestReplayRefuses(t *testing.T) {
	c := model.Config{Mode: 3, Collective: model.AllReduce, Tree: "star-2", Requests: 2, Window: 1, Loss: 1}
	for want, steps := range map[string][]Step{
		"comes DATA(0), not DATA(1)":           {{Do: "deliver", At: "s0", From: "h0", Packet: "DATA(1)"}},
		"there is no \"h7\"":                   {{Do: "deliver", At: "s0", From: "h7"}},
		"no neighbours":                        {{Do: "deliver", At: "h1", From: "h0"}},
		"there are 0 packets":                  {{Do: "deliver", At: "h1", From: "s0"}},
		"\"fly\" is nothing that happens":      {{Do: "fly", At: "s0"}},
		"once more than the model allows":      {{Do: "lose", At: "s0", From: "h0"}, {Do: "lose", At: "s0", From: "h1"}},
		"while something is on its way":        {{Do: "timeout", At: "h0"}},
		"may not do \"send broadcast\"":        {{Do: "send", At: "s0", Action: "send broadcast"}},
		"early once more than":                 {{Do: "early", At: "h0"}},
		"step 2: duplicate once more than the": {{Do: "deliver", At: "s0", From: "h0"}, {Do: "duplicate", At: "h0", From: "s0"}},
	} {
		_, err := Replay(&Trace{Config: c, Steps: steps}, &bytes.Buffer{})
		require.ErrorIs(t, err, ErrScenario, want)
		assert.ErrorContains(t, err, want)
	}
	_, err := ParseTrace([]byte("stepps: []"))
	require.Error(t, err)
}
