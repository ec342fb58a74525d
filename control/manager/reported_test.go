// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	pb "incforge/control/agentpb"
	"incforge/control/placement"
	"incforge/internal/synthetic"
)

// unwire has the agents say who is at their ports, as the network that was built has it, and the topology file not know of any link.
func (w *world) unwire() (built []placement.Link) {
	built = w.net.Links
	for _, s := range w.sites {
		s.ports = nil
		for port := range s.man.Params.Ports {
			s.ports = append(s.ports, &pb.Port{Port: uint32(port)})
		}
	}
	for _, l := range built {
		for i, e := range l.Ends {
			if s := w.sites[w.net.Nodes[e.Node].Name]; s != nil {
				s.ports[e.Port].Neighbour = w.net.Nodes[l.Ends[1-i].Node].Name
			}
		}
	}
	net := *w.net
	net.Links = nil
	w.net = &net
	return built
}

// Links that the file does not have are learned from the agents, both of whose ends must say so; a manager that comes later knows them although a switch cannot be
// asked; and a neighbour that is another from now on ends the groups on the link.
func TestReportedLinks(t *testing.T) {
	w := newWorld(t, synthetic.Mini())
	built := w.unwire()
	w.mbps = 100_000
	spine := w.sites["spine0"].ports[0].Neighbour
	w.sites["spine0"].ports[0].Neighbour = ""
	w.manage(&wire{life: &life{left: -1}})
	w.poll(1, true)
	require.Len(t, w.m.network().Links, len(built)-1, "one end of a link alone is none")
	_, err := w.make("early")
	require.ErrorContains(t, err, "reaches all 4 members")
	w.sites["spine0"].ports[0].Neighbour = spine
	w.poll(1, true)
	require.Len(t, w.m.network().Links, len(built))
	for _, l := range built {
		require.True(t, slices.ContainsFunc(w.m.network().Links, func(have placement.Link) bool {
			return have.Ends == l.Ends || have.Ends == [2]placement.End{l.Ends[1], l.Ends[0]}
		}), "%v", l)
	}
	g, err := w.make("ring")
	require.NoError(t, err)
	require.Equal(t, Ready, g.state)

	w.manage(&wire{life: &life{left: -1}})
	w.sites["leaf1"].lost = true
	w.m.Poll(w.ctx)
	w.sites["leaf1"].lost = false
	w.poll(2, true)
	require.Equal(t, Ready, w.m.groups[g.ID].state)

	w.sites["leaf1"].ports[0].Neighbour = "h9"
	w.poll(2, true)
	require.Nil(t, w.m.groups[g.ID], "it has ended")
	_, err = w.make("late")
	require.Error(t, err)
}
