// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"incforge/internal/tool"
)

//go:embed shim
var shimFiles embed.FS

const libName = "model.so"

// scheme names the way this file puts a library together; it changes whenever the same
// inputs would give another library.
const scheme = "2"

// verilatorFlags are what every model is built with: assertions live, unknowns are
// random per instance, # delays are ignored (the bench owns the clock), and warnings
// do not stop (linting is another command's business).
func verilatorFlags(trace bool) []string {
	flags := []string{
		"--cc", "-O3", "--assert", "--x-assign", "unique", "--x-initial", "unique",
		"--timescale", "1ns/1ps", "--no-timing", "-Wno-fatal",
	}
	if trace {
		flags = append(flags, "--trace-fst")
	}
	return flags
}

// commonFlags hold for every C++ file: nothing but incsim_api may be visible outside
// the library, or two models in one process would share symbols. -fno-gnu-unique is
// part of that: unique symbols ignore RTLD_LOCAL.
func commonFlags(trace bool) []string {
	traced := "0"
	if trace {
		traced = "1"
	}
	return []string{
		"-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-fno-gnu-unique",
		"-fno-semantic-interposition", "-fno-plt", "-fcf-protection=none", "-march=native", "-w",
		"-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE=" + traced, "-DVM_TRACE_FST=" + traced, "-DVM_TRACE_VCD=0",
		"-DINCSIM_TRACED=" + traced,
	}
}

// buildTimeout bounds one run of Verilator or the compiler.
const buildTimeout = 15 * time.Minute

const (
	fastOpt  = "-O3"
	quickOpt = "-O1" // instead of fastOpt, for a Build that is Quick
	slowOpt  = "-O0" // constructors, initial blocks, trace set-up: run once
	libOpt   = "-O2" // Verilator's run-time library: printing, waves, nothing a clock needs
)

// fast is the optimisation of the code that runs at every clock.
func (b *Build) fast() string {
	if b.Quick {
		return quickOpt
	}
	return fastOpt
}

// source is a file of the design as the build sees it.
type source struct {
	local string // path in the build folder: no absolute path may reach the library
	given string // path the user gave
	text  []byte
}

// Compile returns the compiled model, from the cache when the same Verilog was built
// before with the same tools. Errors: a missing tool (*tool.NotFoundError), a missing
// file, what Verilator or the compiler says against the Verilog, and ports that
// differ from b.Ports.
func (b Build) Compile(ctx context.Context) (*Lib, error) {
	lib, err := b.compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("building a model of %s: %w", b.Top, err)
	}
	return lib, nil
}

func (b Build) compile(ctx context.Context) (*Lib, error) {
	if err := b.validate(); err != nil {
		return nil, err
	}
	sources, includes, err := b.read()
	if err != nil {
		return nil, err
	}
	st, err := openStore(b.CacheDir)
	if err != nil {
		return nil, err
	}
	tools, err := probeTools(ctx)
	if err != nil {
		return nil, err
	}

	args := append(verilatorFlags(b.Trace), "--top-module", b.Top)
	for _, name := range slices.Sorted(maps.Keys(b.Params)) {
		args = append(args, "-G"+name+"="+b.Params[name])
	}
	for _, name := range slices.Sorted(maps.Keys(b.Defines)) {
		args = append(args, "+define+"+name+"="+b.Defines[name])
	}
	args = append(args, b.Flags...)

	key := newKey()
	tools.addTo(key)
	if err := key.addFS(shimFiles); err != nil {
		return nil, err
	}
	key.add(scheme, b.fast(), slowOpt, libOpt)
	key.add(commonFlags(b.Trace)...)
	key.add(args...)
	for _, s := range append(slices.Clone(sources), includes...) {
		key.add(s.local, string(s.text))
	}
	digest := key.sum()

	dir, hit, err := st.get(ctx, digest, func(dir string) error {
		c := compiler{b: &b, ctx: ctx, store: st, tools: tools, dir: dir, prefix: "V" + digest[:16]}
		return c.run(args, sources, includes)
	})
	if err != nil {
		return nil, restorePaths(err, sources, includes)
	}
	lib, err := load(filepath.Join(dir, libName))
	if err != nil {
		return nil, err
	}
	lib.Digest, lib.Cached, lib.top = digest, hit, b.Top
	lib.clock, lib.reset, lib.periodNS = b.Clock, b.Reset, b.PeriodNS
	lib.sources = append(sources, includes...)
	for i := range lib.sources {
		lib.sources[i].text = nil
	}
	if err := lib.settleClock(); err != nil {
		return nil, err
	}
	if b.Ports != nil {
		if err := lib.checkPorts(b.Ports); err != nil {
			return nil, err
		}
	}
	return lib, nil
}

// read loads all files of the design and gives them names in the build folder:
// the base name, preceded by a number where two files share it.
func (b *Build) read() (sources, includes []source, err error) {
	var errs []error
	used := map[string]bool{}
	for i, path := range b.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		local := "src/" + filepath.Base(path)
		if used[local] {
			local = fmt.Sprintf("src/%d_%s", i, filepath.Base(path))
		}
		used[local] = true
		sources = append(sources, source{local: local, given: path, text: text})
	}
	for i, dir := range b.IncludeDirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, e := range entries {
			if !e.Type().IsRegular() {
				continue
			}
			path := filepath.Join(dir, e.Name())
			text, err := os.ReadFile(path)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			includes = append(includes, source{local: fmt.Sprintf("inc%d/%s", i, e.Name()), given: path, text: text})
		}
	}
	return sources, includes, errors.Join(errs...)
}

// toolset is the part of the machine that a library depends on.
type toolset struct {
	verilator string // version line
	cxx       string // version line
	cpu       string // what -march=native means here
}

// probeTools asks the tools for their versions, at the same time: a cached start
// waits for this and nothing else.
func probeTools(ctx context.Context) (toolset, error) {
	var t toolset
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		t.verilator, err = verilatorVersion(ctx)
		return err
	})
	g.Go(func() (err error) {
		t.cxx, err = tool.Version(ctx, "g++")
		return err
	})
	if err := g.Wait(); err != nil {
		return t, err
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return t, fmt.Errorf("which processor this is: %w", err)
	}
	t.cpu = cpuIdentity(info)
	return t, nil
}

// verilatorVersion asks the program itself where it can: the usual `verilator` is a
// Perl script that takes ten times as long to answer.
func verilatorVersion(ctx context.Context) (string, error) {
	if _, err := tool.Find("verilator"); err != nil {
		return "", err
	}
	if os.Getenv("VERILATOR_ROOT") == "" && os.Getenv("VERILATOR_BIN") == "" {
		if line, err := tool.Version(ctx, "verilator_bin"); err == nil {
			return line, nil
		}
	}
	return tool.Version(ctx, "verilator")
}

// cpuIdentity returns the lines of /proc/cpuinfo that determine -march=native.
func cpuIdentity(info []byte) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, line := range strings.Split(string(info), "\n") {
		name, _, _ := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		switch name {
		case "vendor_id", "cpu family", "model", "flags", "CPU implementer", "CPU part", "Features":
			if !seen[name] {
				seen[name] = true
				b.WriteString(line + "\n")
			}
		}
	}
	return runtime.GOARCH + "\n" + b.String()
}

func (t toolset) addTo(k keyHash) { k.add(t.verilator, t.cxx, t.cpu) }

// compiler makes one library in one folder.
type compiler struct {
	b      *Build
	ctx    context.Context
	store  store
	tools  toolset
	dir    string // where this build happens
	prefix string // of the C++ names, different for every digest
	root   string // where Verilator keeps its run-time library
}

func (c *compiler) run(args []string, sources, includes []source) error {
	for _, s := range append(slices.Clone(sources), includes...) {
		path := filepath.Join(c.dir, s.local)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, s.text, 0o644); err != nil {
			return err
		}
	}
	full := append([]string{"--prefix", c.prefix, "--Mdir", "obj"}, args...)
	for i := range c.b.IncludeDirs {
		full = append(full, fmt.Sprintf("+incdir+inc%d", i))
	}
	full = append(full, "+incdir+src")
	for _, s := range sources {
		full = append(full, s.local)
	}
	if err := c.call("verilator", full...); err != nil {
		return err
	}
	res, err := tool.Run(c.ctx, tool.Command{Name: "verilator", Args: []string{"--getenv", "VERILATOR_ROOT"}})
	if err != nil {
		return err
	}
	c.root = strings.TrimSpace(string(res.Stdout))
	obj := filepath.Join(c.dir, "obj")
	if err := writeShim(obj); err != nil {
		return err
	}
	header, err := os.ReadFile(filepath.Join(obj, c.prefix+".h"))
	if err != nil {
		return fmt.Errorf("reading what Verilator made: %w", err)
	}
	ports, err := parsePorts(string(header))
	if err != nil {
		return err
	}
	classes, err := os.ReadFile(filepath.Join(obj, c.prefix+"_classes.mk"))
	if err != nil {
		return fmt.Errorf("reading what Verilator made: %w", err)
	}
	lists := parseClasses(string(classes))
	clean, err := pure(obj, c.prefix, lists["VM_CLASSES_FAST"])
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(obj, "model.inc"), modelInclude(c.prefix, ports, clean), 0o644); err != nil {
		return err
	}

	jobs := c.b.Jobs
	if jobs <= 0 {
		jobs = runtime.NumCPU()
	}
	g, ctx := errgroup.WithContext(c.ctx)
	g.SetLimit(jobs)
	var runtimeDir string
	runtimeNames := append(lists["VM_GLOBAL_FAST"], lists["VM_GLOBAL_SLOW"]...)
	var objects []string
	for _, part := range []struct {
		name, opt string
		files     []string
	}{
		{"fast", c.b.fast(), slices.Concat([]string{"shim"}, lists["VM_CLASSES_FAST"], lists["VM_SUPPORT_FAST"])},
		{"slow", slowOpt, slices.Concat(lists["VM_CLASSES_SLOW"], lists["VM_SUPPORT_SLOW"])},
	} {
		units, err := bundle(obj, part.name, part.files)
		if err != nil {
			return err
		}
		for _, unit := range units {
			from, to := "obj/"+unit+".cpp", "obj/"+unit+".o"
			objects = append(objects, to)
			g.Go(func() error { return c.cxx(ctx, from, to, part.opt) })
		}
	}
	g.Go(func() (err error) {
		runtimeDir, err = c.runtime(ctx, runtimeNames)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	for _, name := range runtimeNames {
		objects = append(objects, filepath.Join(runtimeDir, name+".o"))
	}
	link := []string{
		"-shared", "-o", libName, "-Wl,-Bsymbolic", "-Wl,-z,now", "-Wl,--no-undefined",
		"-Wl,--version-script=obj/exports.map",
	}
	link = append(link, objects...)
	link = append(link, "-lpthread", "-lm")
	if c.b.Trace {
		link = append(link, "-lz")
	}
	if err := c.call("g++", link...); err != nil {
		return err
	}
	return os.RemoveAll(obj)
}

// unitBytes is how much generated code goes into one compilation. Verilator's files
// are small and share large headers: most models are compiled fastest, and run
// fastest, as one unit; big ones are divided so that several processors can help and
// the compiler's memory stays bounded.
const unitBytes = 1 << 20

// bundle writes units that include the given files (names without ending) and returns
// the units' names.
func bundle(obj, unit string, files []string) ([]string, error) {
	var units []string
	var text strings.Builder
	size := int64(0)
	flush := func() error {
		if text.Len() == 0 {
			return nil
		}
		name := fmt.Sprintf("%s%d", unit, len(units))
		units = append(units, name)
		err := os.WriteFile(filepath.Join(obj, name+".cpp"), []byte(text.String()), 0o644)
		text.Reset()
		size = 0
		return err
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(obj, f+".cpp"))
		if err != nil {
			return nil, fmt.Errorf("reading what Verilator made: %w", err)
		}
		if size > 0 && size+info.Size() > unitBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		size += info.Size()
		fmt.Fprintf(&text, "#include \"%s.cpp\"\n", f)
	}
	err := flush()
	return units, err
}

// call runs a tool in the build folder.
func (c *compiler) call(name string, args ...string) error {
	_, err := tool.Run(c.ctx, tool.Command{Name: name, Args: args, Dir: c.dir, Log: c.b.Log, Timeout: buildTimeout})
	return err
}

func (c *compiler) cxx(ctx context.Context, from, to, opt string) error {
	args := append(commonFlags(c.b.Trace), opt,
		"-include", "obj/hooks.h", "-Iobj", "-I"+c.root+"/include", "-I"+c.root+"/include/vltstd", "-c", from, "-o", to)
	_, err := tool.Run(ctx, tool.Command{Name: "g++", Args: args, Dir: c.dir, Log: c.b.Log, Timeout: buildTimeout})
	return err
}

// runtime returns a folder with the objects of Verilator's run-time library, which
// are the same for all models and take longer to compile than a small model.
func (c *compiler) runtime(ctx context.Context, names []string) (string, error) {
	hooks, err := shimFiles.ReadFile("shim/hooks.h")
	if err != nil {
		return "", err
	}
	key := newKey()
	c.tools.addTo(key)
	key.add(string(hooks), libOpt)
	key.add(commonFlags(c.b.Trace)...)
	key.add(names...)
	dir, _, err := c.store.get(ctx, "runtime-"+key.sum(), func(dir string) error {
		rc := *c
		rc.dir = dir
		if err := os.Mkdir(filepath.Join(dir, "obj"), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "obj", "hooks.h"), hooks, 0o644); err != nil {
			return err
		}
		for _, name := range names {
			if err := rc.cxx(ctx, filepath.Join(c.root, "include", name+".cpp"), name+".o", libOpt); err != nil {
				return err
			}
		}
		return nil
	})
	return dir, err
}

func writeShim(obj string) error {
	if err := os.WriteFile(filepath.Join(obj, "exports.map"), []byte("{ global: incsim_api; local: *; };\n"), 0o644); err != nil {
		return err
	}
	return fs.WalkDir(shimFiles, "shim", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := shimFiles.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(obj, d.Name()), text, 0o644)
	})
}

// genPort is a port as Verilator's header declares it.
type genPort struct {
	member string // C++ name
	name   string // Verilog name
	width  int
	dir    string // macro of abi.h
}

var (
	portLine = regexp.MustCompile(`^\s*VL_(IN|OUT|INOUT)(8|16|64|W)?\(&(\w+),(\d+),(\d+)(?:,\d+)?\);`)
	anyPort  = regexp.MustCompile(`^\s*VL_(IN|OUT|INOUT)(8|16|64|W)?\(`)
	escape   = regexp.MustCompile(`__0([0-9A-F]{2})`)
)

// parsePorts reads the port declarations of a model's header.
func parsePorts(header string) ([]genPort, error) {
	var ports []genPort
	for _, line := range strings.Split(header, "\n") {
		m := portLine.FindStringSubmatch(line)
		if m == nil {
			if anyPort.MatchString(line) {
				return nil, fmt.Errorf("a port is an array, which is not supported; flatten it: %s", strings.TrimSpace(line))
			}
			continue
		}
		msb, err := strconv.Atoi(m[4])
		if err != nil {
			return nil, fmt.Errorf("port %s: %w", m[3], err)
		}
		lsb, err := strconv.Atoi(m[5])
		if err != nil {
			return nil, fmt.Errorf("port %s: %w", m[3], err)
		}
		name := escape.ReplaceAllStringFunc(strings.TrimPrefix(m[3], "__SYM__"), func(s string) string {
			code, _ := strconv.ParseUint(s[3:], 16, 8) // two hex digits, by the expression
			return string(rune(code))
		})
		ports = append(ports, genPort{member: m[3], name: name, width: msb - lsb + 1, dir: "INCSIM_" + m[1]})
	}
	if len(ports) == 0 {
		return nil, errors.New("the top module has no ports")
	}
	return ports, nil
}

// impure is what generated code calls, or holds, whose effect or state lies outside the model's own memory: the time, random numbers,
// files and other programs, the heap, foreign functions. Verilator's x-assign draws its values when the model is made.
var impure = regexp.MustCompile(`\bVL_(TIME|U?RANDOM|RAND_|DIST_|READMEM|WRITEMEM|SYSTEM|TESTPLUSARGS|VALUEPLUSARGS|` +
	`F(OPEN|CLOSE|EOF|ERROR|FLUSH|GET|READ|SCANF|SEEK|TELL|UNGETC|WRITE|REWIND))|` +
	`\bVl(Queue|AssocArray|Class|Fork|Coroutine|Delay|Process|RNG|Mailbox|Semaphore)|\bstd::|__Vdpi|\btime\(|\bnew\b`)

// pure reports whether an evaluation depends on the model's own memory alone. sources are the names, without ending, of what runs at each
// evaluation; what runs once, when the model is made, may do as it likes.
func pure(obj, prefix string, sources []string) (bool, error) {
	files := []string{}
	for _, name := range sources {
		if name != prefix { // the class around the model, which makes it
			files = append(files, filepath.Join(obj, name+".cpp"))
		}
	}
	headers, err := filepath.Glob(filepath.Join(obj, prefix+"_*.h"))
	if err != nil {
		return false, fmt.Errorf("reading what Verilator made: %w", err)
	}
	for _, h := range headers {
		if base := filepath.Base(h); base != prefix+"__Syms.h" && base != prefix+"__Dpi.h" {
			files = append(files, h)
		}
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return false, fmt.Errorf("reading what Verilator made: %w", err)
		}
		for line := range bytes.Lines(text) {
			code, _, _ := bytes.Cut(line, []byte("//"))
			if impure.Match(code) {
				return false, nil
			}
		}
	}
	return true, nil
}

// modelInclude writes the part of the shim that depends on the model.
func modelInclude(prefix string, ports []genPort, clean bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "#include \"%s.h\"\n#include \"%s__Syms.h\"\n#define INCSIM_CLASS %s\n#define INCSIM_SYMS %s__Syms\n", prefix, prefix, prefix, prefix)
	if clean {
		b.WriteString("#define INCSIM_PURE 1\n")
	} else {
		b.WriteString("#define INCSIM_PURE 0\n")
	}
	b.WriteString("#define INCSIM_PORTS(X)")
	for _, p := range ports {
		fmt.Fprintf(&b, " \\\n    X(%s, %q, %d, %s)", p.member, p.name, p.width, p.dir)
	}
	b.WriteString("\n")
	return b.Bytes()
}

// parseClasses reads the lists of files in Verilator's _classes.mk.
func parseClasses(text string) map[string][]string {
	lists := map[string][]string{}
	current := ""
	for _, line := range strings.Split(text, "\n") {
		if name, _, ok := strings.Cut(line, " += "); ok {
			current = name
			continue
		}
		name := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "\\"))
		if current == "" || name == "" || strings.HasPrefix(name, "#") {
			if name == "" && !strings.HasSuffix(strings.TrimSpace(line), "\\") {
				current = ""
			}
			continue
		}
		lists[current] = append(lists[current], name)
	}
	return lists
}

// restorePaths puts the user's paths into a tool's message.
func restorePaths(err error, sources, includes []source) error {
	var exit *tool.ExitError
	if errors.As(err, &exit) {
		exit.Tail = givenPaths(exit.Tail, append(slices.Clone(sources), includes...))
	}
	return err
}

// givenPaths replaces files of the build folder by the user's: Verilator names the
// path ("src/a.v:3"), what $error prints only the file ("%Error: a.v:3").
func givenPaths(text string, sources []source) string {
	for _, s := range sources {
		text = strings.ReplaceAll(text, s.local+":", s.given+":")
		text = strings.ReplaceAll(text, "%Error: "+filepath.Base(s.local)+":", "%Error: "+s.given+":")
	}
	return text
}
