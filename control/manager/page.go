// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"incforge/control/managerpb"
)

const pageText = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>IncForge manager</title>
<style>body{font:15px sans-serif;margin:2em}table{border-collapse:collapse;margin-bottom:2em}td,th{padding:.3em .8em;border:1px solid #ccc;text-align:left}
meter{width:8em}.trouble{color:#b00}pre{background:#f4f4f4;padding:1em}</style></head><body>
<h1>Groups</h1>
<table><tr><th>group</th><th>state</th><th>Mbit/s</th><th>members</th><th>tree, from the root</th><th>slots a switch</th><th>reason</th></tr>
{{range .Groups}}<tr><td>{{.Group}}</td><td>{{.State}}</td><td>{{.Mbps}}</td><td>{{range .Members}}{{.}} {{end}}</td><td>{{.Tree}}</td><td>{{.Each}}</td><td class="trouble">{{.Reason}}</td></tr>
{{else}}<tr><td colspan="7">none</td></tr>{{end}}</table>
<h1>Switches</h1>
<table><tr><th>switch</th><th>slots in use</th><th></th><th>memory in use</th><th>groups</th><th>queue pair numbers left</th><th>trouble</th></tr>
{{range .Switches}}<tr><td>{{.Name}}</td><td>{{.Used}} of {{.Slots}}</td><td><meter max="{{.Slots}}" value="{{.Used}}"></meter></td><td>{{.Memory}}</td><td>{{.Groups}} of {{.Records}}</td><td>{{.Qpns}}</td><td class="trouble">{{.Trouble}}</td></tr>
{{else}}<tr><td colspan="7">none has told of an engine</td></tr>{{end}}</table>
<h1>Events</h1>
<pre>{{range .Events}}{{.}}
{{end}}</pre></body></html>
`

// SlotsOf says how many slots a group has at each switch of its tree, and at which engine if that is not the first: one number if it is the same at all.
func SlotsOf(g *managerpb.GroupStatus) string {
	if len(g.Slots) == 0 {
		return ""
	}
	same, each := true, make([]string, len(g.Slots))
	for i, n := range g.Slots {
		same = same && n == g.Slots[0]
		if i < len(g.Switches) {
			each[i] = fmt.Sprintf("%s %d", g.Switches[i], n)
		}
		if i < len(g.Engines) && g.Engines[i] > 0 {
			same, each[i] = false, each[i]+fmt.Sprintf(" of engine %d", g.Engines[i])
		}
	}
	if same {
		return strconv.Itoa(int(g.Slots[0]))
	}
	return strings.Join(each, ", ")
}

// MemoryOf says how many bytes so many slots of a switch are, of all that it has.
func MemoryOf(s *managerpb.SwitchStatus, slots uint32) string {
	bytes, all := uint64(slots)*uint64(s.SlotBytes), uint64(s.Slots)*uint64(s.SlotBytes)
	if bytes%1024 != 0 || all%1024 != 0 {
		return fmt.Sprintf("%d of %d bytes", bytes, all)
	}
	return fmt.Sprintf("%d of %d KiB", bytes/1024, all/1024)
}

// Page is a page with the state of the whole cluster, as the operator sees it.
func (m *Manager) Page() http.Handler {
	page := template.Must(template.New("page").Parse(pageText))
	type row struct {
		*managerpb.SwitchStatus
		Used   uint32
		Memory string
	}
	type line struct {
		*managerpb.GroupStatus
		Each string
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := m.status(func(*group) bool { return true }, true)
		var groups []line
		for _, g := range s.Groups {
			groups = append(groups, line{g, SlotsOf(g)})
		}
		var rows []row
		for _, sw := range s.Switches {
			rows = append(rows, row{sw, sw.Slots - sw.Free, MemoryOf(sw, sw.Slots-sw.Free)})
		}
		slices.Reverse(s.Events) // the latest first
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		err := page.Execute(w, map[string]any{"Groups": groups, "Switches": rows, "Events": s.Events})
		if err != nil {
			m.cfg.Log.Warnf("manager: page: %v", err) // the reader has gone
		}
	})
}
