// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"incforge/contract"
	"incforge/inc"
	"incforge/internal/splitmix"
	"incforge/internal/strictyaml"
	"incforge/internal/yamlpos"
	"incforge/live/groups"
	"incforge/roce"
)

// Group is a group of hosts and the tree of switches that works for it.
type Group struct {
	Name string
	// Hosts are by rank.
	Hosts []int
	// What it does, with defaults filled in; for groups in which ranks say that, Kind is "in-band".
	Collective, DType, Op string
	InBand                bool
	Start                 roce.PSN
	// Window is what a rank may have under way, in packets; MTU the most that a packet carries. Message is the longest message in bytes and Messages how many of them a rank
	// may have under way, in Mode I; other modes have neither.
	Window, MTU       int
	Message, Messages int
	// Nodes are the switches of the tree.
	Nodes []Node

	settings string // keys as in a groups file
}

// Node is a switch of a group's tree.
type Node struct {
	// Switch is its place among the topology's, Group the number of the group there.
	Switch, Group int
	// Edges lead to its neighbours in the tree, by endpoint; Parent is the endpoint toward the root, -1 at the root.
	Edges  []Edge
	Parent int
}

// Edge leads from a switch of a tree to a neighbour.
type Edge struct {
	Port int
	// Host is the neighbour's place among the hosts, or -1 and Node its place among the tree's nodes, of which it is endpoint Endpoint.
	Host, Node, Endpoint int
}

// rankEnd is a rank's queue pair. In Mode I a program may say the first PSN that it sends and its path MTU; one that does not, with an mtu of 0, begins with START both
// ways and has the group's MTU.
type rankEnd struct {
	qpn int
	psn roce.PSN
	mtu int
}

// restingQPN is the number that group i has in the place of a host's queue pair until a program has joined it. No host gives such out.
func restingQPN(i int) int { return 0xFF0000 + i }

// switchMAC is the address of a switch's port: locally administered.
func switchMAC(sw, port int) roce.MAC {
	return roce.MAC{0x02, 0x49, 0x4E, 0x43, byte(sw + 1), byte(port)}
}

// Own are a switch's addresses where an agent has its groups.
func (t *Topology) Own(sw int) groups.Address {
	return groups.Address{IP: t.Switches[sw].IP, MAC: switchMAC(sw, 0)}
}

// Neighbours are the names of who is at the other ends of a switch's links, by port.
func (t *Topology) Neighbours(sw int) map[int]string {
	all := map[int]string{}
	for _, p := range t.ports[sw] {
		all[p.number] = t.nameOf(t.far(p.link, sw))
	}
	return all
}

// localQPN is the queue pair that a node has at an endpoint.
func (t *Topology) localQPN(n *Node, endpoint int) int {
	return 0x100000 + n.Group*t.Switches[n.Switch].Manifest.Params.EPS() + endpoint
}

// groups reads the groups. Trees are looked for when all else is right, for they need it.
func (r *reader) groups(files []fileGroup) {
	var where []yamlpos.Pos
	names := map[string]bool{}
	for i := range files {
		f := &files[i]
		at := cmp.Or(f.Name.Pos, f.Hosts.Pos, f.Collective.Pos)
		where = append(where, at)
		g := Group{Name: f.Name.V, Collective: f.Collective.Or("allreduce"), DType: f.DType.V, Op: f.Op.Or("SUM"), InBand: f.InBand.V,
			Start: roce.PSN(f.Start.V & roce.PSNMask)}
		switch {
		case !f.Name.Given:
			r.Addf(at, "group %d has no name", i)
		case names[g.Name] && g.Name != "":
			r.Addf(f.Name.Pos, "group %s is there already", g.Name)
		case g.Name != "" && !wellNamed(g.Name):
			r.Addf(f.Name.Pos, "name %q: %s", g.Name, nameRule)
		}
		names[g.Name] = true
		r.words(f)
		r.ranks(&g, f, at)
		g.settings = settings(f)
		r.t.Groups = append(r.t.Groups, g)
	}
	if r.Err() != nil {
		return
	}
	used := make([]int, len(r.t.Switches))
	for i := range r.t.Groups {
		g := &r.t.Groups[i]
		if err := r.t.grow(g, r.root(&files[i], g), used); err != nil {
			r.Addf(where[i], "group %s: %v", g.Name, err)
		}
	}
	if r.Err() == nil {
		r.setups(files, where)
	}
}

// words checks the words of a group that need no design to be wrong.
func (r *reader) words(f *fileGroup) {
	for _, w := range []struct {
		what    string
		v       *strictyaml.Value[string]
		allowed []string
	}{{"collective", &f.Collective, contract.CollectiveNames()}, {"dtype", &f.DType, contract.ElementNames()}, {"op", &f.Op, contract.OperationNames()}} {
		if w.v.V != "" && !slices.Contains(w.allowed, w.v.V) {
			r.Addf(w.v.Pos, "%s is %q, allowed are %s", w.what, w.v.V, strings.Join(w.allowed, ", "))
		}
	}
	if f.Start.V > roce.PSNMask {
		r.Addf(f.Start.Pos, "start is %d, allowed are 0 to %d", f.Start.V, roce.PSNMask)
	}
}

// ranks finds the hosts of a group.
func (r *reader) ranks(g *Group, f *fileGroup, at yamlpos.Pos) {
	if len(f.Hosts.V) == 0 {
		r.Addf(cmp.Or(f.Hosts.Pos, at), "group %s has no hosts", g.Name)
	}
	for _, name := range f.Hosts.V {
		e, known := r.names[name]
		switch {
		case !known || e.Host < 0:
			r.Addf(f.Hosts.Pos, "there is no host %q", name)
		case slices.Contains(g.Hosts, e.Host):
			r.Addf(f.Hosts.Pos, "host %s is in the group twice", name)
		default:
			g.Hosts = append(g.Hosts, e.Host)
		}
	}
	_, known := r.names[f.Root.V]
	oneWay := g.Collective == "reduce" || g.Collective == "broadcast"
	switch {
	case f.Root.V != "" && !known:
		r.Addf(f.Root.Pos, "there is no host and no switch %q", f.Root.V)
	case oneWay && !slices.Contains(f.Hosts.V, f.Root.V):
		r.Addf(cmp.Or(f.Root.Pos, at), "a %s needs a root, one of its hosts", g.Collective)
	case !oneWay && known && r.names[f.Root.V].Host >= 0:
		r.Addf(f.Root.Pos, "the root of a group that does %s is a switch", g.Collective)
	}
}

// settings are the keys of a group that are as in a groups file.
func settings(f *fileGroup) string {
	var b strings.Builder
	for _, w := range []struct {
		key string
		v   *strictyaml.Value[string]
	}{{"collective", &f.Collective}, {"dtype", &f.DType}, {"op", &f.Op}} {
		if w.v.Given {
			fmt.Fprintf(&b, "%s: %s\n", w.key, w.v.V)
		}
	}
	if f.BigEndian.Given {
		fmt.Fprintf(&b, "big_endian: %t\n", f.BigEndian.V)
	}
	if f.InBand.Given {
		fmt.Fprintf(&b, "in_band: %t\nroot_sends: %[1]t\n", f.InBand.V) // the root of a Reduce has a part in it
	}
	if f.Window.Given {
		fmt.Fprintf(&b, "window: %d\n", f.Window.V)
	}
	return b.String()
}

// root is where a group's tree is rooted: as the file says, or at the switch from which the farthest member is nearest.
func (r *reader) root(f *fileGroup, g *Group) End {
	if f.Root.Given {
		return r.names[f.Root.V]
	}
	best, least := End{Host: -1}, math.MaxInt
	for sw := range r.t.Switches {
		far, from := 0, r.t.from(End{Host: -1, Switch: sw})
		for _, h := range g.Hosts {
			at := r.t.hostLink(h)
			d, reached := from.depth[at.Switch]
			if !reached {
				d = math.MaxInt / 2
			}
			far = max(far, d)
		}
		if far < least {
			best, least = End{Host: -1, Switch: sw}, far
		}
	}
	return best
}

// hostLink is the switch and port that a host is linked to.
func (t *Topology) hostLink(host int) End {
	for _, l := range t.Links {
		switch {
		case l.A.Host == host:
			return l.B
		case l.B.Host == host:
			return l.A
		}
	}
	return End{Host: -1, Switch: -1}
}

// ways are the shortest ways from somewhere to all switches: how far each is, and the link by which it is reached.
type ways struct {
	depth map[int]int
	up    map[int]int
}

// from finds the ways from a switch, or from a host's.
func (t *Topology) from(e End) ways {
	if e.Host >= 0 {
		e = t.hostLink(e.Host)
	}
	w := ways{depth: map[int]int{e.Switch: 0}, up: map[int]int{}}
	for queue := []int{e.Switch}; len(queue) > 0; queue = queue[1:] {
		for _, p := range t.ports[queue[0]] {
			far := t.far(p.link, queue[0])
			if _, seen := w.depth[far.Switch]; far.Host >= 0 || seen {
				continue
			}
			w.depth[far.Switch], w.up[far.Switch] = w.depth[queue[0]]+1, p.link
			queue = append(queue, far.Switch)
		}
	}
	return w
}

// far is the end of a link at which that switch is not.
func (t *Topology) far(link, sw int) End {
	l := t.Links[link]
	if l.A.Host < 0 && l.A.Switch == sw {
		return l.B
	}
	return l.A
}

// grow finds the tree of a group: the shortest ways from the root to its hosts. used counts the groups of each switch.
func (t *Topology) grow(g *Group, root End, used []int) error {
	w := t.from(root)
	links := map[int]bool{}
	for _, h := range g.Hosts {
		at := t.hostLink(h).Switch
		if _, reached := w.depth[at]; !reached {
			return fmt.Errorf("there is no way between %s and %s", t.nameOf(root), t.Hosts[h].Name)
		}
		for i, l := range t.Links {
			if l.A.Host == h || l.B.Host == h {
				links[i] = true
			}
		}
		for link, up := w.up[at]; up; link, up = w.up[at] {
			links[link] = true
			at = t.far(link, at).Switch
		}
	}
	node := map[int]int{} // by switch
	for sw := range t.Switches {
		if slices.ContainsFunc(t.ports[sw], func(p port) bool { return links[p.link] }) {
			node[sw] = len(g.Nodes)
			g.Nodes = append(g.Nodes, Node{Switch: sw, Group: groups.Number(t.Switches[sw].Manifest.Params, used[sw]), Parent: -1})
			used[sw]++
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for _, p := range t.ports[n.Switch] {
			if !links[p.link] {
				continue
			}
			e := Edge{Port: p.number, Host: -1, Node: -1}
			far := t.far(p.link, n.Switch)
			if e.Host = far.Host; e.Host < 0 {
				e.Node = node[far.Switch]
			}
			if up, has := w.up[n.Switch]; has && up == p.link || root.Host >= 0 && far.Host == root.Host {
				n.Parent = len(n.Edges)
			}
			n.Edges = append(n.Edges, e)
		}
		if n.Parent >= 0 { // last: a reproducible engine takes no contribution of the last endpoint
			parent := n.Edges[n.Parent]
			n.Edges = append(slices.Delete(n.Edges, n.Parent, n.Parent+1), parent)
			n.Parent = len(n.Edges) - 1
		}
	}
	for i := range g.Nodes {
		for j := range g.Nodes[i].Edges {
			e := &g.Nodes[i].Edges[j]
			if e.Node >= 0 {
				e.Endpoint = slices.IndexFunc(g.Nodes[e.Node].Edges, func(back Edge) bool { return back.Node == i })
			}
		}
	}
	return nil
}

// psn is the first PSN that a switch of Mode I sends by an endpoint of a group: one of its own for each, which follow from the group's START.
func (g *Group) psn(n *Node, endpoint int) roce.PSN {
	return roce.PSN(splitmix.At(uint64(g.Start), uint64(n.Switch)<<8|uint64(endpoint)) & roce.PSNMask)
}

// connection are the keys of an endpoint that Mode I alone has.
func (g *Group) connection(n *Node, endpoint int, host *rankEnd) string {
	e := &n.Edges[endpoint]
	switch {
	case g.Message == 0:
		return ""
	case e.Host < 0:
		return fmt.Sprintf(", rq_psn: %d, sq_psn: %d, path_mtu: %d", g.psn(&g.Nodes[e.Node], e.Endpoint), g.psn(n, endpoint), g.MTU)
	case host.mtu == 0:
		return fmt.Sprintf(", path_mtu: %d", g.MTU)
	}
	return fmt.Sprintf(", rq_psn: %d, sq_psn: %d, path_mtu: %d", host.psn, g.psn(n, endpoint), host.mtu)
}

// mapping is a group of a switch as a groups file has it. ranks are the hosts' queue pairs.
func (t *Topology) mapping(g *Group, n *Node, ranks []rankEnd) string {
	var b strings.Builder
	fmt.Fprintf(&b, "group: %d\nstart: %d\n%s", n.Group, g.Start, g.settings)
	if n.Parent >= 0 {
		fmt.Fprintf(&b, "parent: %d\n", n.Parent)
	}
	if g.InBand {
		var routes []string
		for _, h := range g.Hosts {
			routes = append(routes, fmt.Sprint(t.toward(g, n, h)))
		}
		fmt.Fprintf(&b, "routes: [%s]\n", strings.Join(routes, ", "))
	}
	b.WriteString("endpoints:\n")
	for i, e := range n.Edges {
		mac, ip, qpn := roce.MAC{}, roce.IP4{}, 0
		var host *rankEnd
		if e.Host >= 0 {
			h := &t.Hosts[e.Host]
			host = &ranks[slices.Index(g.Hosts, e.Host)]
			mac, ip, qpn = h.MAC, h.IP, host.qpn
		} else {
			far := &g.Nodes[e.Node]
			mac, ip, qpn = switchMAC(far.Switch, far.Edges[e.Endpoint].Port), t.Switches[far.Switch].IP, t.localQPN(far, e.Endpoint)
		}
		fmt.Fprintf(&b, "  - {port: %d, host: %t, local: {mac: \"%v\", ip: \"%v\", qpn: %d}, remote: {mac: \"%v\", ip: \"%v\", qpn: %d}%s}\n", e.Port, e.Host >= 0,
			switchMAC(n.Switch, e.Port), t.Switches[n.Switch].IP, t.localQPN(n, i), mac, ip, qpn, g.connection(n, i, host))
	}
	return b.String()
}

// toward is the endpoint of a node on the way to a host.
func (t *Topology) toward(g *Group, n *Node, host int) int {
	at := &g.Nodes[slices.IndexFunc(g.Nodes, func(m Node) bool { return m.Switch == t.hostLink(host).Switch })]
	w := t.from(End{Host: -1, Switch: n.Switch})
	if at == n {
		return slices.IndexFunc(n.Edges, func(e Edge) bool { return e.Host == host })
	}
	for sw := at.Switch; ; {
		link := w.up[sw]
		if next := t.far(link, sw).Switch; next != n.Switch {
			sw = next
			continue
		}
		return slices.IndexFunc(n.Edges, func(e Edge) bool { return e.Node >= 0 && g.Nodes[e.Node].Switch == sw })
	}
}

// position is where messages of the groups' reader begin.
var position = regexp.MustCompile(`^[^:]*:\d+:\d+: `)

// setups makes what each switch starts with, and says what its design does not take.
func (r *reader) setups(files []fileGroup, where []yamlpos.Pos) {
	t := r.t
	for i := range t.Switches {
		sw := &t.Switches[i]
		ports := []int{}
		for _, p := range t.ports[i] {
			ports = append(ports, p.number)
		}
		var err error
		if sw.Setup, err = groups.Parse(sw.Name, []byte("arp: true\ngroups: []\n"), sw.Manifest, ports); err != nil {
			r.Addf(yamlpos.Pos{}, "%v", err)
		}
	}
	for i := range t.Groups {
		g := &t.Groups[i]
		resting := slices.Repeat([]rankEnd{{qpn: restingQPN(i)}}, len(g.Hosts))
		if err := t.size(g); err != nil {
			r.Addf(where[i], "group %s: %v", g.Name, err)
			continue
		}
		window := math.MaxInt
		for j := range g.Nodes {
			n := &g.Nodes[j]
			sw := &t.Switches[n.Switch]
			have, err := sw.Setup.ParseGroup("", []byte(t.mapping(g, n, resting)))
			if err != nil {
				r.refused(&files[i], where[i], g, sw, err)
				continue
			}
			sw.Setup.Put(have)
			set := &have.Set
			g.DType, window = contract.ElementNames()[set.DType], min(window, 1<<set.Log2N/2)
			if set.Collective == inc.CollectiveBarrier {
				g.DType = ""
			}
		}
		if g.Window = window; g.Message > 0 {
			g.Messages, g.Window = window, min(window, knowsNoMessages)*g.Message/g.MTU
		}
	}
}

// knowsNoMessages is how many messages are told as a window of packets in Mode I: a program that knows of packets alone, as those of the guests do, makes messages of a
// quarter of its window, which must not be longer than the engines' messages.
const knowsNoMessages = 4

// size finds the longest packet of a group, and in Mode I the longest message.
func (t *Topology) size(g *Group) error {
	g.MTU, g.Message = math.MaxInt, 0
	first := &t.Switches[g.Nodes[0].Switch]
	for j := range g.Nodes {
		sw := &t.Switches[g.Nodes[j].Switch]
		p := &sw.Manifest.Params
		if (p.Mode == 1) != (first.Manifest.Params.Mode == 1) {
			return fmt.Errorf("switch %s is of mode %d, %s of mode %d: in one tree all or none are of mode 1", first.Name, first.Manifest.Params.Mode, sw.Name, p.Mode)
		}
		if g.MTU = min(g.MTU, p.MTUBytes); p.Mode == 1 {
			g.Message = min(cmp.Or(g.Message, p.MessageBytes), p.MessageBytes)
		}
	}
	return nil
}

// refused notes what a switch's design does not take of a group, at the key that it is about.
func (r *reader) refused(f *fileGroup, at yamlpos.Pos, g *Group, sw *Switch, err error) {
	keys := map[string]yamlpos.Pos{"dtype": f.DType.Pos, "op": f.Op.Pos, "collective": f.Collective.Pos, "window": f.Window.Pos, "in_band": f.InBand.Pos}
	for _, line := range strings.Split(err.Error(), "\n") {
		line = position.ReplaceAllString(strings.TrimPrefix(line, groups.ErrSetup.Error()+": "), "")
		word, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, "local qpn") { // nobody gave it: the number of the group is wrong, which is said, too
			continue
		}
		r.Addf(cmp.Or(keys[word], at), "group %s on switch %s (%s): %s", g.Name, sw.Name, sw.Manifest.Name, line)
	}
}
