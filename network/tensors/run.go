// SPDX-License-Identifier: Apache-2.0

package tensors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"incforge/internal/clocked"
	"incforge/internal/fail"
	"incforge/network/comm"
	"incforge/verify/arith"
)

// One is how a single input file serves all ranks.
type One string

// The ways to make one file do for all ranks.
const (
	// Perturb gives rank 0 the tensors as they are and every other rank each element times 1+δ, δ uniform within ±1 %; integers get up to
	// 8 more or less. It follows from the seed.
	Perturb One = "perturb"
	// Cut gives rank r the r-th of as many equal parts as there are ranks; what is left over at the end belongs to nobody.
	Cut One = "cut"
	// Same gives every rank the same.
	Same One = "same"
)

// Options say what to run.
type Options struct {
	Call comm.Collective
	Root int
	Op   arith.Op
	// Inputs are files or patterns of files, sorted each: one file, or one for each rank in turn.
	Inputs []string
	// Raw is the element type of files that are not safetensors.
	Raw arith.DType
	// One is what to do with one file and several ranks.
	One One
	// Tensor is a pattern of tensor names; others are left out. Empty is all.
	Tensor string
	// Output is the folder for each rank's result, rank-N.safetensors, or rank-N.bin if the inputs are raw. Empty writes nothing.
	Output string
	// Clock is the design's: time and throughput are given if a flow has found it.
	Clock clocked.Clock
	// Seed is that of Perturb.
	Seed uint64
}

// Row is the result of one tensor's call.
type Row struct {
	Tensor   string `json:"tensor"`
	DType    string `json:"dtype"`
	Elements int    `json:"elements"`
	// Bytes is the size of one rank's tensor, of an allgather's that of all together.
	Bytes  int    `json:"bytes"`
	Cycles uint64 `json:"cycles"`
	// BitsPerCycle is the algorithm's throughput: 8 × Bytes over the cycles.
	BitsPerCycle float64 `json:"bits_per_cycle"`
	// NS and Gbps are the same at the clock that holds; 0 if no flow has found it.
	NS   float64 `json:"ns,omitempty"`
	Gbps float64 `json:"gbps,omitempty"`

	Packets  int `json:"packets"`
	Resent   int `json:"resent"`
	Timeouts int `json:"timeouts"`
	// MaxAbs and MaxULP are the largest differences from a float64 reduction, where there is one.
	MaxAbs float64 `json:"max_abs"`
	MaxULP float64 `json:"max_ulp"`
	// Verdict is pass, or fail with what is wrong.
	Verdict string `json:"verdict"`
	Message string `json:"message,omitempty"`
}

// Report is the result of a run.
type Report struct {
	Call  string        `json:"call"`
	Tree  string        `json:"tree"`
	Ranks int           `json:"ranks"`
	Op    string        `json:"op,omitempty"`
	Root  *int          `json:"root,omitempty"`
	Clock clocked.Clock `json:"clock"`
	// Message is the packets of a message, Window the messages under way, PathMTU the bytes of a packet.
	Message int      `json:"message_packets"`
	Window  int      `json:"window_messages"`
	PathMTU int      `json:"path_mtu"`
	Rows    []Row    `json:"tensors"`
	Total   Row      `json:"total"`
	Outputs []string `json:"outputs,omitempty"`
}

// Passed reports that every call had the right result.
func (r *Report) Passed() bool { return r.Total.Verdict == pass }

const (
	pass  = "pass"
	fault = "fail"
)

// Run runs the call once a tensor, one after the other on one group, then checks what is left on hosts and switches, and writes the results.
// A wrong result is a verdict, not an error.
func Run(ctx context.Context, w *comm.World, g *comm.Group, in Inputs, o Options) (rep Report, err error) {
	defer fail.Catch(&err, "")
	c := g.Config()
	rep = Report{Call: o.Call.String(), Tree: w.Tree().String(), Ranks: g.Ranks(), Clock: o.Clock, Message: c.Message, Window: c.Window,
		PathMTU: c.PathMTU, Total: Row{Tensor: "total", Verdict: pass}}
	if o.Call.Reduces() {
		rep.Op = o.Op.String()
	}
	if o.Call.Rooted() {
		rep.Root = &o.Root
	}
	out := make([]File, g.Ranks())
	for i := range in.ranks[0] {
		call, err := o.run(ctx, w, g, in.ranks, i)
		fail.On(err)
		rep.add(call, &in.ranks[0][i], out)
	}
	fail.On(w.Finish(ctx))
	if t := &rep.Total; t.Cycles > 0 {
		t.BitsPerCycle = 8 * float64(t.Bytes) / float64(t.Cycles)
	}
	for i := range rep.Rows {
		rep.Rows[i].realTime(o.Clock)
	}
	rep.Total.realTime(o.Clock)
	fail.On(rep.save(o, out, in.raw))
	return rep, nil
}

// realTime adds time and throughput at the clock that holds.
func (r *Row) realTime(c clocked.Clock) {
	r.NS, _ = clocked.Cycles(float64(r.Cycles), c).Real()
	r.Gbps, _ = clocked.BitsPerCycle(r.BitsPerCycle, c).Real()
}

// run runs the call for the i-th tensor.
func (o *Options) run(ctx context.Context, w *comm.World, g *comm.Group, ranks []File, i int) (_ *comm.Call, err error) {
	first := &ranks[0][i]
	defer fail.Catch(&err, "tensor %q", first.Name)
	d, _ := first.DType()
	req := comm.Request{Collective: o.Call, Root: o.Root, DType: d, Op: o.Op}
	if o.Call != comm.Barrier {
		for r := range ranks {
			req.In = append(req.In, ranks[r][i].Data)
		}
	}
	call := fail.Must(g.Queue(req))
	return call, w.Run(ctx)
}

// add adds a call for a tensor, rank 0's being first, to the report and each rank's result to out.
func (rep *Report) add(call *comm.Call, first *Tensor, out []File) {
	total, d := call.Total, call.DType
	row := Row{Tensor: first.Name, DType: d.String(), Elements: call.Bytes() / d.Size(), Bytes: call.Bytes(), Cycles: call.Cycles(),
		BitsPerCycle: call.BitsPerCycle(), Packets: total.Packets, Resent: total.Resent,
		Timeouts: total.Timeouts, Verdict: pass}
	row.MaxAbs, row.MaxULP = call.Deviation()
	t := &rep.Total
	if err := call.Check(); err != nil {
		row.Verdict, row.Message = fault, err.Error()
		t.Verdict = fault
	}
	rep.Rows = append(rep.Rows, row)
	t.Elements += row.Elements
	t.Bytes += row.Bytes
	t.Cycles += row.Cycles
	t.Packets += row.Packets
	t.Resent += row.Resent
	t.Timeouts += row.Timeouts
	t.MaxAbs, t.MaxULP = max(t.MaxAbs, row.MaxAbs), max(t.MaxULP, row.MaxULP)
	for r, data := range call.Out {
		if data == nil {
			continue
		}
		shape := first.Shape
		if len(data) != len(first.Data) {
			shape = []int{len(data) / d.Size()}
		}
		out[r] = append(out[r], Tensor{Name: first.Name, Type: first.Type, Shape: shape, Data: data})
	}
}

// save writes the ranks' results.
func (rep *Report) save(o Options, out []File, raw bool) (err error) {
	if o.Output == "" {
		return nil
	}
	defer fail.Catch(&err, "write results")
	fail.On(os.MkdirAll(o.Output, 0o755))
	for r := range out {
		if len(out[r]) == 0 {
			continue
		}
		name, b := fmt.Sprintf("rank-%d.bin", r), out[r][0].Data
		if !raw {
			name, b = fmt.Sprintf("rank-%d%s", r, extension), fail.Must(out[r].Append(nil))
		}
		name = filepath.Join(o.Output, name)
		fail.On(os.WriteFile(name, b, 0o644))
		rep.Outputs = append(rep.Outputs, name)
	}
	return nil
}

// Inputs are each rank's tensors, all of the same names, types and lengths.
type Inputs struct {
	ranks []File
	raw   bool // and to be written raw
}

// DType is the element type if all tensors are of one.
func (in *Inputs) DType() (arith.DType, error) {
	all := in.ranks[0]
	first, _ := all[0].DType()
	for _, t := range all {
		if d, _ := t.DType(); d != first {
			return 0, fmt.Errorf("tensor %q is of %s, %q of %s: a fixed group computes with one type", all[0].Name, first, t.Name, d)
		}
	}
	return first, nil
}

// Load reads the input files for that many ranks.
func Load(o Options, ranks int) (_ Inputs, err error) {
	defer fail.Catch(&err, "")
	var paths []string
	for _, pattern := range o.Inputs {
		found, err := filepath.Glob(pattern)
		fail.If(err != nil, "input %q: %w", pattern, err)
		fail.If(len(found) == 0, "input %q: no such file", pattern)
		paths = append(paths, found...)
	}
	if o.Call == comm.Barrier && len(paths) == 0 {
		return Inputs{ranks: slices.Repeat([]File{{{Name: "(none)", Type: typeName(arith.FP32)}}}, ranks)}, nil
	}
	fail.If(len(paths) != 1 && len(paths) != ranks, "%d input files, %d ranks: must be one file, or one a rank", len(paths), ranks)
	in := Inputs{raw: !strings.HasSuffix(paths[0], extension)}
	for _, p := range paths {
		f, err := o.choose(fail.Must(Read(p, o.Raw)))
		fail.If(err != nil, "%s: %w", p, err)
		in.ranks = append(in.ranks, f)
	}
	if len(in.ranks) == 1 {
		in.ranks = o.share(in.ranks[0], ranks)
	}
	for r := range in.ranks {
		err := alike(in.ranks[0], in.ranks[r])
		fail.If(err != nil, "rank %d beside rank 0: %w", r, err)
	}
	return in, nil
}

// choose keeps the tensors that match the pattern, and rejects types that engines cannot compute with.
func (o *Options) choose(all File) (list File, err error) {
	defer fail.Catch(&err, "")
	for _, t := range all {
		matches, err := path.Match(o.Tensor, t.Name)
		fail.If(err != nil, "pattern %q: %w", o.Tensor, err)
		if o.Tensor != "" && !matches {
			continue
		}
		_, known := t.DType()
		fail.If(!known, "tensor %q is of %s, engines have %s", t.Name, t.Type, strings.Join(types(), ", "))
		list = append(list, t)
	}
	fail.If(len(list) == 0, "no tensor has a name like %q", o.Tensor)
	return list, nil
}

// share derives every rank's input from one file.
func (o *Options) share(f File, ranks int) []File {
	files := make([]File, ranks)
	for r := range files {
		rng := rand.New(rand.NewPCG(o.Seed, uint64(r)))
		for _, t := range f {
			d, _ := t.DType()
			switch o.One {
			case Perturb:
				if r > 0 {
					t.Data = perturb(rng, arith.Kind{DType: d}, t.Data)
				}
			case Cut:
				n := len(t.Data) / d.Size() / ranks
				t.Shape, t.Data = []int{n}, t.Data[r*n*d.Size():(r+1)*n*d.Size()]
			case Same:
			default:
				fail.Now("%q is no way to share one file: must be one of %v", o.One, []One{Perturb, Cut, Same})
			}
			files[r] = append(files[r], t)
		}
	}
	return files
}

func perturb(rng *rand.Rand, k arith.Kind, data []byte) []byte {
	out := make([]byte, len(data))
	for i := range k.Elements(len(data)) {
		x := k.Number(data, i)
		if k.DType == arith.INT32 {
			k.Set(out, i, x+float64(rng.IntN(17)-8))
			continue
		}
		k.Set(out, i, x*(1+0.01*(2*rng.Float64()-1)))
	}
	return out
}

// alike returns an error unless names, types and lengths are the same.
func alike(a, b File) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d tensors, %d there", len(b), len(a))
	}
	for i := range a {
		if a[i].Name != b[i].Name && len(a) > 1 || a[i].Type != b[i].Type || len(a[i].Data) != len(b[i].Data) {
			return fmt.Errorf("tensor %q is %d bytes of %s, %q there is %d of %s", b[i].Name, len(b[i].Data), b[i].Type, a[i].Name, len(a[i].Data), a[i].Type)
		}
	}
	return nil
}
