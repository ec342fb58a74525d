// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/verify/internal/synthetic"
	"incforge/verify/manifest"
)

// engines are reference engines with the parameters of Standard, or of others, without a generator.
func engines(t testing.TB, configs ...[]string) []Engine {
	t.Helper()
	var all []Engine
	for _, c := range configs {
		p := synthetic.Mini()
		p.InBand = true
		if c[0] == "trio" {
			p = synthetic.Full()
			p.InBand = true
			p.BufferBytes, p.Groups, p.Members, p.Ports, p.MTUBytes, p.WindowPackets = 2048, 1, 3, 3, 256, 2
		}
		text, err := json.Marshal(p)
		require.NoError(t, err)
		keys := map[string]any{}
		require.NoError(t, json.Unmarshal(text, &keys))
		for _, set := range c[1:] {
			key, value, _ := strings.Cut(set, "=")
			var v any
			require.NoError(t, yaml.Unmarshal([]byte(value), &v))
			keys[key] = v
		}
		text, err = json.Marshal(keys)
		require.NoError(t, err)
		var q manifest.Params
		require.NoError(t, json.Unmarshal(text, &q))
		m := synthetic.Manifest(q)
		all = append(all, Engine{Config: c[0], Set: c[1:], Manifest: m, Open: OpenReference(m)})
	}
	return all
}

// TestCampaign is a short one; incforge chaos runs long ones.
func TestCampaign(t *testing.T) {
	r := &Runner{Engines: engines(t, Standard(Reference)...), DUT: Reference}
	s, err := r.Campaign(context.Background(), Campaign{From: 1, To: 200, Jobs: 2})
	require.NoError(t, err)
	for _, f := range s.Failures {
		t.Errorf("seed %d: %s: %s", f.Seed, f.Kind, f.Message)
	}
	assert.Equal(t, 200, s.Cases)
	t.Logf("%+v", s)
}
