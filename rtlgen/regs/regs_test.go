// SPDX-License-Identifier: Apache-2.0

package regs

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/rtlgen/params"
)

var update = flag.Bool("update", false, "write the golden files")

func model(t testing.TB, preset string, sets ...string) Model {
	t.Helper()
	p, err := params.Preset(preset, sets...)
	require.NoError(t, err)
	m, err := New(p)
	require.NoError(t, err)
	return m
}

// TestContract holds the map to sections 6 and 7 of docs/engine.md: names, fields and bits, in order.
func TestContract(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "engine.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(doc), "## 7. Counters, in this order\n")
	require.True(t, found)
	list, _, found := strings.Cut(rest, ".\n")
	require.True(t, found)
	counters := strings.Fields(strings.ReplaceAll(list, ",", " "))
	assert.Empty(t, cmp.Diff(counters, CounterNames(2)))

	_, rest, found = strings.Cut(string(doc), "## 6. Registers")
	require.True(t, found)
	table, _, found := strings.Cut(rest, "\n## 7.")
	require.True(t, found)
	checkTable(t, table, model(t, "mini"))
	checkTable(t, table, model(t, "mini3"))

	doc, err = os.ReadFile(filepath.Join("..", "..", "docs", "pipes.md"))
	require.NoError(t, err)
	_, rest, found = strings.Cut(string(doc), "## 6. Registers and counters that Mode III adds")
	require.True(t, found)
	table, rest, found = strings.Cut(rest, "Counters, after those of Mode II")
	require.True(t, found)
	checkTable(t, table, model(t, "mini3"))
	_, rest, found = strings.Cut(rest, ": ")
	require.True(t, found)
	list, _, found = strings.Cut(rest, ".\n")
	require.True(t, found)
	assert.Empty(t, cmp.Diff(append(counters, strings.Fields(strings.ReplaceAll(list, ",", " "))...), CounterNames(3)))
	for _, n := range []string{"PIPE_CTRL", "PIPE_TIMEOUT", "GROUP_PIPE", "GROUP_FAILED"} {
		_, ok := model(t, "mini").Register(n)
		assert.False(t, ok, "%s in Mode II", n)
	}
}

// checkTable holds the map to a table of registers: "| NAME, NAME[i] | field[bits], ... |".
func checkTable(t *testing.T, table string, m Model) {
	t.Helper()
	bits := regexp.MustCompile(`([a-z_0-9]+)\[(\d+)(?::(\d+))?\]`)
	checked := 0
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], "-") {
			continue
		}
		// "EP_LOCAL_IP, EP_REMOTE_IP[ei]", "EP_LOCAL_MAC_LO/HI, ...": expand to names.
		names := regexp.MustCompile(`[A-Z][A-Z0-9_/]+`).FindAllString(cells[1], -1)
		for _, n := range names {
			variants := []string{n}
			if base, ok := strings.CutSuffix(n, "_LO/HI"); ok {
				variants = []string{base + "_LO", base + "_HI"}
			}
			for _, v := range variants {
				if v == "PARAM_" {
					continue
				}
				r, ok := m.Register(v)
				require.True(t, ok, "no register %s", v)
				for _, b := range bits.FindAllStringSubmatch(cells[2], -1) {
					hi, lo := b[2], b[3]
					if lo == "" {
						lo = hi
					}
					ok := false
					for _, f := range r.Fields {
						// the fields of GROUP_ROUTE repeat
						ok = ok || strings.TrimSuffix(f.Name, "_0") == b[1] && fmt.Sprint(f.LSB) == lo && fmt.Sprint(f.LSB+f.Width-1) == hi
					}
					assert.True(t, ok, "register %s has no field %s", v, b[0])
					checked++
				}
			}
		}
	}
	require.GreaterOrEqual(t, checked, strings.Count(table, "\n| ")-3, "the table was not understood")
	for _, n := range regexp.MustCompile(`PARAM_[A-Z_]+[A-Z]`).FindAllString(table, -1) {
		_, ok := m.Register(n)
		assert.True(t, ok, "no register %s", n)
	}
}

// TestLayout checks what makes a map usable, on every preset and at the limits.
func TestLayout(t *testing.T) {
	t.Parallel()
	names, err := params.Presets()
	require.NoError(t, err)
	models := []Model{model(t, "mini", "groups=64", "members=16", "ports=32")}
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
				require.Zero(t, r.ResetOf(i)&^r.Mask(), "%s: reset outside the fields", r.Name)
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
				require.LessOrEqual(t, uint64(f.most()), uint64(1)<<f.Width-1, "%s.%s", r.Name, f.Name)
				for _, v := range f.Values {
					require.LessOrEqual(t, v.Value, f.most())
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
		{"BYPASS_PORT", 0, 0x0400}, {"BYPASS_PORT", 7, 0x041C}, {"COUNTER", 0, 0x0800}, {"COUNTER", 44, 0x08B0},
		{"GROUP_CTRL", 0, 0x1000}, {"GROUP_STATUS", 1, 0x1044}, {"GROUP_START", 2, 0x1088}, {"GROUP_SLOTS", 3, 0x10CC}, {"GROUP_IN_MASK", 0, 0x1010},
		{"GROUP_OUT_MASK", 0, 0x1014}, {"GROUP_ACK_MASK", 0, 0x1018}, {"GROUP_PARENT", 0, 0x101C}, {"GROUP_COLLECTIVE", 0, 0x1020},
		{"GROUP_ROUTE_0", 0, 0x1024}, {"GROUP_ROUTE_6", 3, 0x10FC},
		{"EP_CTRL", 0, 0x8000}, {"EP_LOCAL_QPN", 1, 0x8044}, {"EP_REMOTE_QPN", 63, 0x8FC8}, {"EP_LOCAL_IP", 0, 0x800C}, {"EP_REMOTE_IP", 0, 0x8010},
		{"EP_LOCAL_MAC_LO", 0, 0x8014}, {"EP_LOCAL_MAC_HI", 0, 0x8018}, {"EP_REMOTE_MAC_LO", 0, 0x801C}, {"EP_REMOTE_MAC_HI", 0, 0x8020}, {"EP_HEADER", 0, 0x8024},
	} {
		r, ok := m.Register(c.name)
		require.True(t, ok, c.name)
		a, err := r.Addr(c.i)
		require.NoError(t, err)
		assert.Equal(t, c.addr, a, "%s[%d]", c.name, c.i)
	}
	for name, want := range map[string]uint32{"ID": 0x494E4331, "VERSION": 0x00010002, "PARAM_MODE": 2, "PARAM_BUS_BYTES": 64, "PARAM_LANES": 16,
		"PARAM_GROUPS": 4, "PARAM_MEMBERS": 8, "PARAM_PORTS": 8, "PARAM_MTU_BYTES": 4096, "PARAM_SLOTS": 256, "PARAM_WINDOW_PACKETS": 32,
		"CTRL": 1, "IP_ID": 0x1111, "ECC_INJECT": 0, "GROUP_CTRL": 0} {
		r, ok := m.Register(name)
		require.True(t, ok, name)
		assert.Equal(t, want, r.Reset, name)
	}
	three := model(t, "fpga100g3")
	for name, want := range map[string][2]uint32{"PIPE_CTRL": {0x003C, 0x101}, "PIPE_TIMEOUT": {0x0040, 64}, "GROUP_PIPE": {0x2000, 0}, "GROUP_FAILED": {0x2100, 0}} {
		r, ok := three.Register(name)
		require.True(t, ok, name)
		assert.Equal(t, want, [2]uint32{r.Offset, r.Reset}, name)
	}
	pipe, _ := three.Register("GROUP_PIPE")
	assert.Equal(t, uint32(128), *pipe.Fields[0].Max, "half the buffer")
	bypass, _ := m.Register("BYPASS_PORT")
	assert.Equal(t, uint32(5), bypass.ResetOf(5), "a port's bypass is itself")
	in, _ := m.Register("GROUP_IN_MASK")
	assert.Equal(t, uint32(0x1FF), in.Mask(), "one bit an endpoint")
	_, ok := m.Register("NO_SUCH")
	assert.False(t, ok)
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
		{[]string{"dtypes=BF16", "ops=SUM"}, 0x01000104, "base to base + 2^(log2_n+1) - 1: elements are kept as FP32. All are below PARAM_SLOTS.", "0 sum", "2 bf16"},
		{[]string{"dtypes=FP32,FP16,BF16,INT32", "ops=MAX,MIN,SUM", "accumulate=reproducible", "members=5", "ecc=true"}, 0x0303070F,
			"base to base + 2^log2_n - 1; of a 16-bit type, and in-band whatever the type, base to base + 2^(log2_n+1) - 1: elements are kept as FP32. All are below PARAM_SLOTS.",
			"0 sum, 1 min, 2 max", "0 fp32, 1 fp16, 2 bf16, 3 int32"},
	} {
		m := model(t, "mini", append(c.sets, "buffer_bytes=49152")...)
		values := func(f Field) string {
			var out []string
			for _, v := range f.Values {
				require.NotEmpty(t, v.Doc)
				out = append(out, fmt.Sprint(v.Value, " ", v.Name))
			}
			return strings.Join(out, ", ")
		}
		arith, _ := m.Register("PARAM_ARITH")
		assert.Equal(t, c.arith, arith.Reset, c.sets)
		slots, _ := m.Register("GROUP_SLOTS")
		assert.Equal(t, "The slots of a group: "+c.slots, slots.Doc, c.sets)
		collective, _ := m.Register("GROUP_COLLECTIVE")
		assert.Equal(t, c.ops, values(collective.Fields[1]), c.sets)
		assert.Equal(t, c.dtypes, values(collective.Fields[2]), c.sets)
	}
}

func TestIllegalParametersAreRefused(t *testing.T) {
	t.Parallel()
	_, err := New(params.Params{Name: "x"})
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

// TestJSONReadsBack checks that the manifest's form loses nothing that its readers need.
func TestJSONReadsBack(t *testing.T) {
	t.Parallel()
	m := model(t, "quint")
	js, err := m.JSON()
	require.NoError(t, err)
	var got []Register
	require.NoError(t, json.Unmarshal(js, &got))
	for i := range got {
		for j := range got[i].Fields {
			f := &got[i].Fields[j]
			f.Reset = got[i].Reset >> f.LSB & (f.Mask() >> f.LSB)
		}
	}
	assert.Empty(t, cmp.Diff(m.Registers, got))
}

// TestCHeader compiles a program against the header and compares the addresses, masks and reset values that C sees.
func TestCHeader(t *testing.T) {
	t.Parallel()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
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
					print(pre+"_"+r.Name+"_RESET"+index, r.ResetOf(i))
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
		for i, n := range CounterNames(map[bool]int{true: 3, false: 2}[preset == "trio3"]) {
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
	if err := exec.Command("python3", "-c", "import systemrdl").Run(); err != nil {
		t.Skip("the Python package systemrdl-compiler is not installed")
	}
	for _, m := range []Model{model(t, "mini"), model(t, "mini3"), model(t, "quint"), model(t, "lone"), model(t, "mini", "dtypes=FP32,FP16,BF16,INT32", "ops=SUM,MIN,MAX", "ecc=true")} {
		file := filepath.Join(t.TempDir(), "regs.rdl")
		require.NoError(t, os.WriteFile(file, m.SystemRDL(), 0o600))
		cmd := exec.Command("python3", filepath.Join("testdata", "read_rdl.py"), file)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		require.NoError(t, err, errs.String())
		require.Empty(t, errs.String(), "warnings")
		var want []string
		for _, r := range m.Registers {
			for i := range r.Count {
				for _, f := range r.Fields {
					reset, access := fmt.Sprint(r.ResetOf(i)>>f.LSB&(f.Mask()>>f.LSB)), map[Access]string{RO: "r", RW: "rw"}[r.Access]
					if f.SelfClearing {
						access = "w"
					}
					want = append(want, fmt.Sprintf("%#x %d %d %s %s", r.Offset+uint32(i)*r.Stride, f.LSB, f.Width, reset, access))
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
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	run("vet", "-p", "1", "./...")
	assert.Contains(t, run("test", "-v", "./miniregs"), "--- PASS: TestDriver")
}

func TestGoName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"ECC_INJECT": "ECCInject", "GROUP_IN_MASK": "GroupInMask", "EP_LOCAL_QPN": "EPLocalQPN", "log2_n": "Log2N", "IP_ID": "IPID", "DROP_ICRC": "DropICRC"} {
		assert.Equal(t, want, goName(in))
	}
}
