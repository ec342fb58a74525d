// SPDX-License-Identifier: Apache-2.0

package verilate

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"incforge/internal/cache"
	"incforge/internal/tool"
)

// compiler makes one library in one folder.
type compiler struct {
	d      *Design
	ctx    context.Context
	store  cache.Store
	tools  toolset
	dir    string // where this build happens
	prefix string // of the C++ names, different for every digest
	root   string // where Verilator keeps its run-time library

	opt            string   // optimisation of what runs at every clock
	pre            string   // header that every file reads first
	runtimeObjects []string // of the run-time library
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
	var files []string
	for _, s := range sources {
		files = append(files, s.local)
	}
	var parts []*part
	for i, module := range c.d.Once {
		p := &part{prefix: fmt.Sprintf("%so%d", c.prefix, i), folder: fmt.Sprintf("once%d", i)}
		own := slices.IndexFunc(files, func(f string) bool { return strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)) == module })
		if own < 0 {
			return fmt.Errorf("module %s, to be compiled once, has no file of its name", module)
		}
		if err := c.generate(p, c.d.onceArguments(module), files); err != nil {
			return err
		}
		p.fast = append(p.fast, module)
		files[own] = p.folder + "/" + module + ".sv"
		parts = append(parts, p)
	}
	top := &part{prefix: c.prefix, folder: topFolder}
	if err := c.generate(top, args, files); err != nil {
		return err
	}
	obj := filepath.Join(c.dir, topFolder)
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
	clean, err := pure(obj, c.prefix, top.classes)
	if err != nil {
		return err
	}
	clean = clean && !c.d.Cover // every evaluation counts
	if err := os.WriteFile(filepath.Join(obj, "model.inc"), modelInclude(c.prefix, ports, clean, c.d.Cover), 0o644); err != nil {
		return err
	}
	top.fast = append([]string{"shim"}, top.fast...)
	return c.build(append(parts, top))
}

const topFolder = "obj"

// part is what one run of Verilator makes: the design, or a module of Once.
type part struct {
	prefix     string   // of its C++ names
	folder     string   // where it lies
	classes    []string // files of what runs at each evaluation, without ending
	slow, fast []string // all files
	global     []string // those of Verilator's run-time library that it wants
}

// generate runs Verilator.
func (c *compiler) generate(p *part, args, files []string) error {
	full := append([]string{"--prefix", p.prefix, "--Mdir", p.folder}, args...)
	for i := range c.d.IncludeDirs {
		full = append(full, fmt.Sprintf("+incdir+inc%d", i))
	}
	full = append(full, "+incdir+src")
	if err := c.call("verilator", append(full, files...)...); err != nil {
		return err
	}
	makefile, err := os.ReadFile(filepath.Join(c.dir, p.folder, p.prefix+".mk"))
	if err != nil {
		return fmt.Errorf("reading what Verilator made: %w", err)
	}
	if c.root, err = parseRoot(string(makefile)); err != nil {
		return err
	}
	classes, err := os.ReadFile(filepath.Join(c.dir, p.folder, p.prefix+"_classes.mk"))
	if err != nil {
		return fmt.Errorf("reading what Verilator made: %w", err)
	}
	lists := parseClasses(string(classes))
	p.classes = lists["VM_CLASSES_FAST"]
	p.slow = slices.Concat(lists["VM_CLASSES_SLOW"], lists["VM_SUPPORT_SLOW"])
	p.fast = slices.Concat(p.classes, lists["VM_SUPPORT_FAST"])
	p.global = append(lists["VM_GLOBAL_FAST"], lists["VM_GLOBAL_SLOW"]...)
	return nil
}

// build compiles the parts and links them.
func (c *compiler) build(parts []*part) error {
	var units, global []string
	size := int64(0)
	for _, p := range parts {
		some, bytes, err := bundle(filepath.Join(c.dir, p.folder), p.prefix+"__Syms.h", p.slow, p.fast)
		if err != nil {
			return err
		}
		for _, u := range some {
			units = append(units, p.folder+"/"+u)
		}
		size += bytes
		for _, name := range p.global {
			if !slices.Contains(global, name) {
				global = append(global, name)
			}
		}
	}
	c.opt = c.d.level(size)
	var err error
	if c.pre, c.runtimeObjects, err = c.common(global); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(c.ctx)
	g.SetLimit(c.jobs())
	for _, unit := range units {
		g.Go(func() error { return c.cxx(ctx, unit+".cpp", unit+".o", c.opt, "-include", c.pre) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := c.link(units); err != nil {
		return err
	}
	for _, p := range parts {
		if err := os.RemoveAll(filepath.Join(c.dir, p.folder)); err != nil {
			return err
		}
	}
	return nil
}

// jobs is how many compilers may run at a time.
func (c *compiler) jobs() int {
	if c.d.Jobs > 0 {
		return c.d.Jobs
	}
	return runtime.NumCPU()
}

// common makes what all models share, if it is not there yet: the precompiled header and the objects of Verilator's run-time library.
func (c *compiler) common(names []string) (pre string, objects []string, err error) {
	g, ctx := errgroup.WithContext(c.ctx)
	g.SetLimit(c.jobs())
	g.Go(func() (err error) {
		pre, err = c.header(ctx)
		return err
	})
	g.Go(func() (err error) {
		objects, err = c.runtime(ctx, names)
		return err
	})
	err = g.Wait()
	if err != nil && c.d.Trace && c.newWaves() && strings.Contains(err.Error(), "lz4.h") {
		err = fmt.Errorf("the waves of this Verilator need lz4; install it with `apt-get install liblz4-dev`: %w", err)
	}
	return pre, objects, err
}

func (c *compiler) link(units []string) error {
	args := []string{
		"-shared", "-o", libName, "-Wl,-Bsymbolic", "-Wl,-z,now", "-Wl,--no-undefined",
		"-Wl,--version-script=" + topFolder + "/exports.map",
	}
	for _, unit := range units {
		args = append(args, unit+".o")
	}
	args = append(args, c.runtimeObjects...)
	args = append(args, "-lpthread", "-lm")
	if c.d.Trace {
		args = append(args, "-lz")
		if c.newWaves() {
			args = append(args, "-llz4")
		}
	}
	return c.call("g++", args...)
}

// newWaves reports whether this Verilator writes waves with a library of its own (since 5.04x), which needs lz4.
func (c *compiler) newWaves() bool { return cache.IsDir(filepath.Join(c.root, "include", "fstcpp")) }

// Verilator's files are many and share large headers. A small model is compiled fastest, and runs fastest, as one unit. A large one
// is divided, so that several processors can help and the compiler's memory stays bounded.
const (
	smallModel = 1 << 20 // bytes of generated code that go into one compilation, all of a model
	unitBytes  = 1 << 20 // and of one larger than that
)

// Optimisation by size. Up to 4 MB of generated code the second level takes the compiler half as long again, and a run of all scenarios
// is no shorter; with the 4.8 MB of fpga100g it is shorter by a fifth. The third level brings nothing. The bench of one module runs for less
// time than the first level takes.
const (
	briefOpt   = "-O0"
	smallOpt   = "-O1"
	largeOpt   = "-O2"
	largeModel = 4 << 20
)

func (d *Design) level(size int64) string {
	switch {
	case d.Brief:
		return briefOpt
	case size > largeModel && !d.Short:
		return largeOpt
	default:
		return smallOpt
	}
}

// bundle writes units that include the given files (names without ending) and returns the units' names. What runs once, in slow
// (constructors, the first settling, how waves are set up), is not optimised. headers declares everything: what it defines in line
// must not fall under that. size is that of the files.
func bundle(obj, headers string, slow, fast []string) (units []string, size int64, err error) {
	sizes := map[string]int64{}
	for _, f := range slices.Concat(slow, fast) {
		info, err := os.Stat(filepath.Join(obj, f+".cpp"))
		if err != nil {
			return nil, 0, fmt.Errorf("reading what Verilator made: %w", err)
		}
		sizes[f] = info.Size()
		size += info.Size()
	}
	var texts []string
	if size <= smallModel {
		texts = []string{unoptimised(slow) + included(fast)}
	} else {
		for _, part := range divide(slow, sizes) {
			texts = append(texts, unoptimised(part))
		}
		for _, part := range divide(fast, sizes) {
			texts = append(texts, included(part))
		}
	}
	for i, text := range texts {
		unit := fmt.Sprintf("unit%d", i)
		text = fmt.Sprintf("#include \"%s\"\n%s", headers, text)
		if err := os.WriteFile(filepath.Join(obj, unit+".cpp"), []byte(text), 0o644); err != nil {
			return nil, 0, err
		}
		units = append(units, unit)
	}
	return units, size, nil
}

func included(files []string) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "#include \"%s.cpp\"\n", f)
	}
	return b.String()
}

func unoptimised(files []string) string {
	return "#pragma GCC push_options\n#pragma GCC optimize(\"O0\")\n" + included(files) + "#pragma GCC pop_options\n"
}

// divide groups files, in order, into units of about unitBytes.
func divide(files []string, sizes map[string]int64) [][]string {
	var parts [][]string
	var part []string
	size := int64(0)
	for _, f := range files {
		if len(part) > 0 && size+sizes[f] > unitBytes {
			parts = append(parts, part)
			part, size = nil, 0
		}
		part = append(part, f)
		size += sizes[f]
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	return parts
}

// call runs a tool in the build folder.
func (c *compiler) call(name string, args ...string) error {
	_, err := tool.Run(c.ctx, tool.Command{Name: name, Args: args, Dir: c.dir, Log: c.d.Log, Timeout: buildTimeout})
	return err
}

func (c *compiler) cxx(ctx context.Context, from, to, opt string, flags ...string) error {
	args := append(commonFlags(c.d.Trace), opt, "-I"+filepath.Dir(from), "-I"+c.root+"/include", "-I"+c.root+"/include/vltstd")
	args = append(append(args, flags...), "-c", from, "-o", to)
	_, err := tool.Run(ctx, tool.Command{Name: "g++", Args: args, Dir: c.dir, Log: c.d.Log, Timeout: buildTimeout})
	return err
}

// header returns the path of pre.h, beside which the compiler finds its compiled form. One that it cannot use, it passes over: then
// it reads the text.
func (c *compiler) header(ctx context.Context) (string, error) {
	key, err := c.commonKey(c.opt)
	if err != nil {
		return "", err
	}
	dir, _, err := c.store.Get(ctx, "header-"+key.Sum(), func(dir string) error {
		hc := *c
		hc.dir = dir
		if err := writeShim(dir); err != nil {
			return err
		}
		return hc.cxx(ctx, "pre.h", "pre.h.gch", c.opt, "-x", "c++-header")
	})
	return filepath.Join(dir, "pre.h"), err
}

// runtime returns the objects of Verilator's run-time library, which are the same for all models and take longer to compile than a
// small model. Models differ in which of them they need.
func (c *compiler) runtime(ctx context.Context, names []string) ([]string, error) {
	objects := make([]string, len(names))
	for i, name := range names {
		key, err := c.commonKey(libOpt)
		if err != nil {
			return nil, err
		}
		key.Add(name)
		dir, _, err := c.store.Get(ctx, "runtime-"+key.Sum(), func(dir string) error {
			rc := *c
			rc.dir = dir
			if err := writeShim(dir); err != nil {
				return err
			}
			return rc.cxx(ctx, filepath.Join(c.root, "include", name+".cpp"), name+".o", libOpt, "-include", "hooks.h")
		})
		if err != nil {
			return nil, err
		}
		objects[i] = filepath.Join(dir, name+".o")
	}
	return objects, nil
}

// commonKey is the digest of what all models share, so far as it is the same for all of it.
func (c *compiler) commonKey(opt string) (cache.Key, error) {
	key := cache.NewKey()
	c.tools.addTo(key)
	for _, name := range []string{"shim/hooks.h", "shim/pre.h"} {
		text, err := shimFiles.ReadFile(name)
		if err != nil {
			return key, err
		}
		key.Add(string(text))
	}
	key.Add(c.root, opt)
	key.Add(commonFlags(c.d.Trace)...)
	return key, nil
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
