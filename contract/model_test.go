// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/inc"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
)

var update = flag.Bool("update", false, "write the golden files")

func model(t testing.TB, preset string, sets ...string) contract.Model {
	t.Helper()
	p, err := params.Preset(preset, sets...)
	require.NoError(t, err)
	m, err := contract.NewModel(p.Contract())
	require.NoError(t, err)
	return m
}

// TestModes: what Mode III adds is in Mode III alone.
func TestModes(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"PIPE_CTRL", "PIPE_TIMEOUT", "GROUP_PIPE", "GROUP_FAILED"} {
		_, err := model(t, "mini").Registers.Register(n)
		require.ErrorIs(t, err, contract.ErrUnknownRegister, n)
		_, err = model(t, "mini3").Registers.Register(n)
		require.NoError(t, err)
	}
}

// TestLayout checks what makes a map usable, on every preset and at the limits.
func TestLayout(t *testing.T) {
	t.Parallel()
	names, err := params.Presets()
	require.NoError(t, err)
	models := []contract.Model{model(t, "mini", "groups=64", "members=16", "ports=32")}
	assert.Equal(t, 18, models[0].AddrBits)
	for _, n := range names {
		models = append(models, model(t, n))
	}
	for _, m := range models {
		owner := map[uint32]string{}
		seen := map[string]bool{}
		for _, r := range m.Registers {
			require.False(t, seen[r.Name], r.Name)
			seen[r.Name] = true
			require.Positive(t, r.Count)
			if r.Index == "" {
				require.Equal(t, []int{1, 4}, []int{r.Count, int(r.Stride)}, r.Name)
			}
			for i := range r.Count {
				a, err := r.Addr(i)
				require.NoError(t, err)
				require.Zero(t, a%4)
				require.Less(t, a, uint32(1)<<m.AddrBits, r.Name)
				require.Empty(t, owner[a], "%s[%d] lies on another register", r.Name, i)
				owner[a] = r.Name
				require.Zero(t, r.ResetValue(i)&^r.Mask(), "%s: reset outside the fields", r.Name)
			}
			for _, i := range []int{-1, r.Count} {
				_, err := r.Addr(i)
				require.Error(t, err)
			}
			var used uint32
			for _, f := range r.Fields {
				require.Positive(t, f.Width)
				require.LessOrEqual(t, f.LSB+f.Width, 32)
				require.Zero(t, used&f.Mask(), "%s.%s lies on another field", r.Name, f.Name)
				used |= f.Mask()
				require.LessOrEqual(t, uint64(f.Most()), uint64(1)<<f.Width-1, "%s.%s", r.Name, f.Name)
				for _, v := range f.Values {
					require.LessOrEqual(t, v.Value, f.Most())
				}
				require.NotEmpty(t, f.Doc)
			}
			require.NotEmpty(t, r.Doc)
		}
		// Half the address space would not do.
		last := m.Registers[len(m.Registers)-1]
		end, err := last.Addr(last.Count - 1)
		require.NoError(t, err)
		require.GreaterOrEqual(t, end, uint32(1)<<(m.AddrBits-1))
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	m := model(t, "fpga100g")
	for _, c := range []struct {
		name string
		i    int
		addr uint32
	}{
		{"ID", 0, 0x0000}, {"VERSION", 0, 0x0004}, {"PARAM_MODE", 0, 0x0008}, {"PARAM_WINDOW_PACKETS", 0, 0x0028}, {"PARAM_ARITH", 0, 0x002C}, {"CTRL", 0, 0x0030},
		{"IP_ID", 0, 0x0034}, {"ECC_INJECT", 0, 0x0038},
		{"BYPASS_PORT", 0, 0x0400}, {"BYPASS_PORT", 7, 0x041C}, {"COUNTER", 0, 0x0800}, {"COUNTER", 1, 0x0804}, {"COUNTER_HIGH", 0, 0x0C00}, {"COUNTER_HIGH", 45, 0x0CB4}, {"COUNTER_SNAPSHOT", 0, 0x003C},
		{"GROUP_CTRL", 0, 0x1000}, {"GROUP_STATUS", 1, 0x1044}, {"GROUP_START", 2, 0x1088}, {"GROUP_SLOTS", 3, 0x10CC}, {"GROUP_IN_MASK", 0, 0x1010},
		{"GROUP_OUT_MASK", 0, 0x1014}, {"GROUP_ACK_MASK", 0, 0x1018}, {"GROUP_PARENT", 0, 0x101C}, {"GROUP_COLLECTIVE", 0, 0x1020},
		{"GROUP_ROUTE_0", 0, 0x1024}, {"GROUP_ROUTE_6", 3, 0x10FC},
		{"EP_CTRL", 0, 0x8000}, {"EP_LOCAL_QPN", 1, 0x8044}, {"EP_REMOTE_QPN", 63, 0x8FC8}, {"EP_LOCAL_IP", 0, 0x800C}, {"EP_REMOTE_IP", 0, 0x8010},
		{"EP_LOCAL_MAC_LO", 0, 0x8014}, {"EP_LOCAL_MAC_HI", 0, 0x8018}, {"EP_REMOTE_MAC_LO", 0, 0x801C}, {"EP_REMOTE_MAC_HI", 0, 0x8020}, {"EP_HEADER", 0, 0x8024},
	} {
		r, err := m.Registers.Register(c.name)
		require.NoError(t, err, c.name)
		a, err := r.Addr(c.i)
		require.NoError(t, err)
		assert.Equal(t, c.addr, a, "%s[%d]", c.name, c.i)
	}
	for name, want := range map[string]uint32{"ID": 0x494E4331, "VERSION": 0x00010003, "PARAM_MODE": 2, "PARAM_BUS_BYTES": 64, "PARAM_LANES": 16,
		"PARAM_GROUPS": 4, "PARAM_MEMBERS": 8, "PARAM_PORTS": 8, "PARAM_MTU_BYTES": 4096, "PARAM_SLOTS": 256, "PARAM_WINDOW_PACKETS": 32,
		"CTRL": 1, "IP_ID": 0x1111, "ECC_INJECT": 0, "GROUP_CTRL": 0} {
		r, err := m.Registers.Register(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, r.Reset, name)
	}
	three := model(t, "fpga100g3")
	for name, want := range map[string][2]uint32{"PIPE_CTRL": {0x0040, 0x101}, "PIPE_TIMEOUT": {0x0044, 64}, "GROUP_PIPE": {0x2000, 0}, "GROUP_FAILED": {0x2100, 0}} {
		r, err := three.Registers.Register(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, [2]uint32{r.Offset, r.Reset}, name)
	}
	pipe, _ := three.Registers.Register("GROUP_PIPE")
	assert.Equal(t, uint32(128), *pipe.Fields[0].Max, "half the buffer")
	bypass, _ := m.Registers.Register("BYPASS_PORT")
	assert.Equal(t, uint32(5), bypass.ResetValue(5), "a port's bypass is itself")
	in, _ := m.Registers.Register("GROUP_IN_MASK")
	assert.Equal(t, uint32(0x1FF), in.Mask(), "one bit an endpoint")
	_, err := m.Registers.Register("NO_SUCH")
	assert.ErrorIs(t, err, contract.ErrUnknownRegister)
}

// TestArithmetic: what the parameters build in is what the map offers.
func TestArithmetic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sets   []string
		arith  uint32
		slots  string
		ops    string
		dtypes string
	}{
		{[]string{"dtypes=INT32", "ops=SUM", "accumulate=in_place"}, 0x01000108, "base to base + 2^log2_n - 1, all below PARAM_SLOTS.", "0 sum", "3 int32"},
		{[]string{"dtypes=INT32,FP32", "ops=MIN,MAX", "ecc=true"}, 0x01020609, "base to base + 2^log2_n - 1, all below PARAM_SLOTS.",
			"1 min, 2 max", "0 fp32, 3 int32"},
		{[]string{"dtypes=INT32", "ops=SUM", "park=true"}, 0x01040108, "base to base + 2^log2_n - 1, all below PARAM_SLOTS.", "0 sum", "3 int32"},
		{[]string{"dtypes=BF16", "ops=SUM"}, 0x01000104, "base to base + 2^(log2_n+1) - 1: elements are kept as FP32. All are below PARAM_SLOTS.", "0 sum", "2 bf16"},
		{[]string{"dtypes=FP32,FP16,BF16,INT32", "ops=MAX,MIN,SUM", "accumulate=reproducible", "members=5", "ecc=true"}, 0x0303070F,
			"base to base + 2^log2_n - 1; of a 16-bit type, and in-band whatever the type, base to base + 2^(log2_n+1) - 1: elements are kept as FP32. All are below PARAM_SLOTS.",
			"0 sum, 1 min, 2 max", "0 fp32, 1 fp16, 2 bf16, 3 int32"},
	} {
		m := model(t, "mini", append(c.sets, "buffer_bytes=49152")...)
		values := func(f contract.Field) string {
			var out []string
			for _, v := range f.Values {
				require.NotEmpty(t, v.Doc)
				out = append(out, fmt.Sprint(v.Value, " ", v.Name))
			}
			return strings.Join(out, ", ")
		}
		arith, _ := m.Registers.Register("PARAM_ARITH")
		assert.Equal(t, c.arith, arith.Reset, c.sets)
		slots, _ := m.Registers.Register("GROUP_SLOTS")
		assert.Equal(t, "The slots of a group: "+c.slots, slots.Doc, c.sets)
		collective, _ := m.Registers.Register("GROUP_COLLECTIVE")
		assert.Equal(t, c.ops, values(collective.Fields[1]), c.sets)
		assert.Equal(t, c.dtypes, values(collective.Fields[2]), c.sets)
	}
}

// TestUnits: a packet takes two units if its elements are widened, and in-band if any could be.
func TestUnits(t *testing.T) {
	t.Parallel()
	_, fp32, _ := contract.ElementNamed(contract.FP32)
	_, bf16, _ := contract.ElementNamed(contract.BF16)
	mixed, narrow := contract.Params{DTypes: []string{contract.FP32, contract.BF16}}, contract.Params{DTypes: []string{contract.FP32}}
	assert.Equal(t, 1, mixed.Units(uint8(fp32), false))
	assert.Equal(t, 2, mixed.Units(uint8(bf16), false))
	assert.Equal(t, 2, mixed.Units(uint8(fp32), true))
	assert.Equal(t, 1, narrow.Units(uint8(fp32), true))
}

func TestIllegalParametersAreRefused(t *testing.T) {
	t.Parallel()
	_, err := contract.NewModel(contract.Params{Name: "x"})
	require.ErrorContains(t, err, "build the register map: ")
}

func TestGolden(t *testing.T) {
	t.Parallel()
	m := model(t, "mini")
	driver, err := m.GoDriver()
	require.NoError(t, err)
	js, err := m.JSON()
	require.NoError(t, err)
	for file, got := range map[string][]byte{
		"mini_regs.h": m.CHeader(), "mini_regs.rdl": m.SystemRDL(), "mini_regs.md": m.Markdown(), "miniregs.go.txt": driver, "mini_regs.json": js,
	} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join("testdata", file)
			if *update {
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, d)
			}
		})
	}
}

// TestManifest: what is written is read back, loses nothing, and gives the same bytes when it is written again.
func TestManifest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"quint", "mini3"} {
		p, err := params.Preset(name)
		require.NoError(t, err)
		d, err := rtlgen.Generate(p)
		require.NoError(t, err)
		dir := t.TempDir()
		require.NoError(t, d.Write(dir))
		for _, path := range []string{dir, filepath.Join(dir, contract.FileName)} {
			got, err := contract.Load(path)
			require.NoError(t, err)
			assert.Equal(t, dir, got.Dir)
			text, err := got.JSON()
			require.NoError(t, err)
			assert.Equal(t, string(d.Files.Map()[contract.FileName]), string(text))
			got.Dir, got.Derived = "", d.Manifest.Derived
			assert.Empty(t, cmp.Diff(d.Manifest, *got, cmpopts.IgnoreUnexported(contract.Register{}, contract.Field{})))
			for _, file := range d.Manifest.Files {
				assert.Contains(t, (&contract.Manifest{Dir: dir, Files: d.Manifest.Files}).Sources(), filepath.Join(dir, file))
			}
			top, err := got.Top(contract.TopCore)
			require.NoError(t, err)
			same, err := got.Top(name + "_core")
			require.NoError(t, err)
			assert.Equal(t, top, same)
		}
	}
}

// TestManifestRefuses: what cannot be an engine's manifest, and why.
func TestManifestRefuses(t *testing.T) {
	t.Parallel()
	p, err := params.Preset("mini")
	require.NoError(t, err)
	d, err := rtlgen.Generate(p)
	require.NoError(t, err)
	good := string(d.Files.Map()[contract.FileName])
	_, err = contract.Parse([]byte(good))
	require.NoError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{`{`, `[`, "invalid character"},
		{`"schema": 1`, `"schema": 2`, "schema 2, this program reads 1"},
		{`"groups": 2`, `"groups": 0`, "params.groups is 0, it must be at least 1"},
		{`"mode": 2`, `"mode": 4`, "params.mode is 4, this program knows 1, 2 and 3"},
		{`"mode": 2`, `"mode": 1`, "params.message_bytes is 0, params.window_messages 0: Mode I takes"},
		{`"INT32"`, `"FP64"`, "params.dtypes is [FP64] and params.ops [SUM], known are [FP32 FP16 BF16 INT32] and [SUM MIN MAX]"},
		{`"buffer_bytes": 16384`, `"buffer_bytes": 16`, "the buffer holds no slot"},
		{`"registers"`, `"other"`, "no registers or no counters"},
	} {
		require.Contains(t, good, c.old)
		_, err := contract.Parse([]byte(strings.Replace(good, c.old, c.new, 1)))
		assert.ErrorContains(t, err, c.want)
	}
}

// TestReferenceAgrees: the reference engine keeps lists of its own, from the specification; they are the contract's.
func TestReferenceAgrees(t *testing.T) {
	t.Parallel()
	for _, mode := range contract.Modes() {
		var names []string
		for c := range (inc.Params{Mode: mode}).Counters() {
			names = append(names, c.String())
		}
		assert.ElementsMatch(t, contract.CounterNames(mode), names, "counters of mode %d", mode)
	}
	for name, code := range map[string]int{contract.FP32: inc.DTypeFP32, contract.FP16: inc.DTypeFP16, contract.BF16: inc.DTypeBF16, contract.INT32: inc.DTypeINT32} {
		_, got, ok := contract.ElementNamed(name)
		assert.True(t, ok, name)
		assert.Equal(t, code, got, name)
	}
	for name, code := range map[string]int{contract.SUM: inc.OpSum, contract.MIN: inc.OpMin, contract.MAX: inc.OpMax} {
		assert.Equal(t, name, contract.OperationNames()[code])
	}
	for name, code := range map[string]int{"allreduce": inc.CollectiveAllReduce, "reduce": inc.CollectiveReduce, "broadcast": inc.CollectiveBroadcast,
		"barrier": inc.CollectiveBarrier} {
		assert.Equal(t, name, contract.CollectiveNames()[code])
	}
	assert.Equal(t, inc.Roots, contract.Roots)
	names, err := params.Presets()
	require.NoError(t, err)
	for _, name := range names {
		p, err := params.Preset(name)
		require.NoError(t, err)
		c := p.Contract()
		i := inc.Params{Groups: c.Groups, Members: c.Members}
		assert.Equal(t, []int{i.EPS(), i.TableSize()}, []int{c.EPS(), c.EngineRecords()}, name)
	}
}

// TestCHeader compiles a program against the header and compares the addresses, masks and reset values that C sees.
func TestCHeader(t *testing.T) {
	t.Parallel()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is missing: make tools")
	}
	for _, preset := range []string{"mini", "quint", "trio3"} {
		m := model(t, preset)
		dir, pre := t.TempDir(), strings.ToUpper(preset)
		var c, want strings.Builder
		fmt.Fprintf(&c, "#include \"regs.h\"\n#include \"regs.h\"\n#include <stdio.h>\nint main(void) {\n")
		print := func(expr string, v uint32) {
			fmt.Fprintf(&c, "    printf(\"%%s %%u\\n\", %q, (unsigned)(%s));\n", expr, expr)
			fmt.Fprintf(&want, "%s %d\n", expr, v)
		}
		for _, r := range m.Registers {
			for _, i := range []int{0, r.Count - 1} {
				a, err := r.Addr(i)
				require.NoError(t, err)
				index := ""
				if r.Index != "" {
					index = fmt.Sprintf("(%d)", i)
				}
				print(pre+"_"+r.Name+index, a)
				switch {
				case r.ResetStep != 0:
					print(pre+"_"+r.Name+"_RESET"+index, r.ResetValue(i))
				default:
					print(pre+"_"+r.Name+"_RESET", r.Reset)
				}
			}
			for _, f := range r.Fields {
				field := pre + "_" + r.Name + "_" + strings.ToUpper(f.Name)
				print(field+"_MASK", f.Mask())
				print(fmt.Sprintf("%s_GET(0xA5C3960Fu, %s)", pre, field), uint32(uint64(0xA5C3960F)>>f.LSB&(uint64(1)<<f.Width-1)))
				print(fmt.Sprintf("%s_PUT(1u, %s)", pre, field), 1<<f.LSB)
			}
		}
		for i, n := range contract.CounterNames(map[bool]int{true: 3, false: 2}[preset == "trio3"]) {
			print(pre+"_COUNTER_INDEX_"+n, uint32(i))
		}
		fmt.Fprintf(&c, "    return 0;\n}\n")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "regs.h"), m.CHeader(), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.c"), []byte(c.String()), 0o600))
		out, err := exec.Command(gcc, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", filepath.Join(dir, "main"), filepath.Join(dir, "main.c")).CombinedOutput()
		require.NoError(t, err, string(out))
		out, err = exec.Command(filepath.Join(dir, "main")).Output()
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(want.String(), string(out)))
	}
}

// TestSystemRDL has an independent compiler read the SystemRDL and compares every bit of every register.
func TestSystemRDL(t *testing.T) {
	t.Parallel()
	python, err := filepath.Abs("../build/lint-tools/bin/python3")
	require.NoError(t, err)
	if exec.Command(python, "-c", "import systemrdl").Run() != nil {
		python = "python3"
		if exec.Command(python, "-c", "import systemrdl").Run() != nil {
			t.Skip("the Python package systemrdl-compiler is missing: make tools")
		}
	}
	for _, m := range []contract.Model{model(t, "mini"), model(t, "mini3"), model(t, "quint"), model(t, "lone"), model(t, "mini", "engines=3"), model(t, "mini", "dtypes=FP32,FP16,BF16,INT32", "ops=SUM,MIN,MAX", "ecc=true")} {
		file := filepath.Join(t.TempDir(), "regs.rdl")
		require.NoError(t, os.WriteFile(file, m.SystemRDL(), 0o600))
		cmd := exec.Command(python, filepath.Join("testdata", "read_rdl.py"), file)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		require.NoError(t, err, errs.String())
		require.Empty(t, errs.String(), "warnings")
		var want []string
		for _, r := range m.Registers {
			for i := range r.Count {
				for _, f := range r.Fields {
					reset, access := fmt.Sprint(r.ResetValue(i)>>f.LSB&(f.Mask()>>f.LSB)), map[contract.Access]string{contract.RO: "r", contract.RW: "rw"}[r.Access]
					if f.SelfClearing {
						access = "w"
					}
					want = append(want, fmt.Sprintf("%#x %d %d %s %s", r.At(i), f.LSB, f.Width, reset, access))
				}
			}
		}
		assert.ElementsMatch(t, want, strings.Split(strings.TrimSpace(string(out)), "\n"))
	}
}

// TestGoDriver vets the drivers of all presets and runs the test in testdata against mini's.
func TestGoDriver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names, err := params.Presets()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module drivers\n\ngo 1.21\n"), 0o600))
	for _, n := range names {
		m := model(t, n)
		src, err := m.GoDriver()
		require.NoError(t, err)
		pkg := filepath.Join(dir, m.DriverPackage())
		require.NoError(t, os.Mkdir(pkg, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(pkg, "regs.go"), src, 0o600))
	}
	src, err := os.ReadFile(filepath.Join("testdata", "driver_test.go.txt"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "miniregs", "driver_test.go"), src, 0o600))
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		// with the flags of the Makefile the standard library is compiled already
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod "+os.Getenv("GOFLAGS"), "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	run("vet", "-p", "1", "./...")
	assert.Contains(t, run("test", "-vet=off", "-v", "./miniregs"), "--- PASS: TestDriver")
}
