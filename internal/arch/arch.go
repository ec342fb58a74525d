// SPDX-License-Identifier: Apache-2.0

// Package arch holds the rules of the house, which its test checks over the whole tree: imports run downwards only, and no package,
// file or function is longer than a reader can hold, unless a sentence at its head says why.
package arch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Package is what the rules look at. Tests are not looked at.
type Package struct {
	// Path is the import path without the module's name; Imports are those of this module, written likewise.
	Path    string
	Imports []string
	Lines   int
	// Long tells that the package comment has a sentence that says why it is long.
	Long  bool
	Files []File
}

// File is a source file.
type File struct {
	Name      string
	Lines     int
	Long      bool
	Functions []Function
}

// Function is a function or method, as Type.Name.
type Function struct {
	Name  string
	Lines int
	Long  bool
}

// longMark begins the sentence that says why something is long.
const longMark = "Long: "

// Load reads all packages of the module in the folder root. It reads the files itself, instead of asking `go list`, so that a cached
// verdict of a test knows which files it is about.
func Load(root string) ([]Package, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("arch: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	module := strings.TrimPrefix(first, "module ")
	byPath := map[string]*Package{}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, other := os.Stat(filepath.Join(name, "go.mod"))
			if name != root && (other == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		p := byPath[filepath.ToSlash(rel)]
		if p == nil {
			p = &Package{Path: filepath.ToSlash(rel)}
			byPath[p.Path] = p
		}
		return p.add(module, name)
	})
	if err != nil {
		return nil, fmt.Errorf("arch: %w", err)
	}
	var all []Package
	for _, name := range slices.Sorted(maps.Keys(byPath)) {
		p := byPath[name]
		slices.Sort(p.Imports)
		p.Imports = slices.Compact(p.Imports)
		all = append(all, *p)
	}
	return all, nil
}

// add reads a file of the package.
func (p *Package) add(module, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, i := range parsed.Imports {
		to, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		if own, ok := strings.CutPrefix(to, module+"/"); ok {
			p.Imports = append(p.Imports, own)
		}
	}
	f := File{Name: filepath.Base(name), Lines: bytes.Count(text, []byte("\n"))}
	for _, c := range parsed.Comments {
		if c.Pos() < parsed.Package {
			f.Long = f.Long || excused(c)
		}
	}
	p.Long = p.Long || excused(parsed.Doc)
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
			f.Functions = append(f.Functions, Function{nameOf(fn), lines, excused(fn.Doc)})
		}
	}
	p.Files = append(p.Files, f)
	p.Lines += f.Lines
	return nil
}

// excused tells whether a comment says why something is long.
func excused(c *ast.CommentGroup) bool {
	return slices.ContainsFunc(strings.Split(c.Text(), "\n"), func(line string) bool { return strings.HasPrefix(line, longMark) })
}

// nameOf is Name or Type.Name.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// Room is a folder of packages: one, or all below it if Path ends in "/...".
type Room struct {
	Path string
	// Level: imports go to lower levels only, or stay in the room.
	Level int
	// Why it stands there.
	Why string
}

// holds tells how well a room fits a package: the length of its path, -1 if it is another's.
func (r Room) holds(pkg string) int {
	if base, below := strings.CutSuffix(r.Path, "/..."); below && (pkg == base || strings.HasPrefix(pkg, base+"/")) {
		return len(base)
	}
	if r.Path == pkg {
		return len(pkg) + 1 // better than a folder of the same name
	}
	return -1
}

// roomOf is the room that fits best.
func roomOf(rooms []Room, pkg string) (Room, bool) {
	if len(rooms) == 0 {
		return Room{}, false
	}
	best := slices.MaxFunc(rooms, func(a, b Room) int { return cmp.Compare(a.holds(pkg), b.holds(pkg)) })
	return best, best.holds(pkg) >= 0
}

// Ban forbids a room to reach another, by whatever way.
type Ban struct {
	From, To string // paths, or folders with "/..."
	Why      string
}

// CheckImports reports packages that have no room, imports that do not run downwards, and bans that are broken.
func CheckImports(all []Package, rooms []Room, bans []Ban) error {
	var errs []error
	reach := map[string][]string{}
	for _, p := range all {
		reach[p.Path] = p.Imports
		from, ok := roomOf(rooms, p.Path)
		if !ok {
			errs = append(errs, fmt.Errorf("package %s has no room: give it a level and a reason", p.Path))
			continue
		}
		for _, i := range p.Imports {
			if to, ok := roomOf(rooms, i); ok && to.Path != from.Path && to.Level >= from.Level {
				errs = append(errs, fmt.Errorf("%s imports %s, which is not below it: %s is on level %d (%s), %s on level %d (%s)", p.Path, i,
					from.Path, from.Level, from.Why, to.Path, to.Level, to.Why))
			}
		}
	}
	for _, b := range bans {
		for _, p := range all {
			if (Room{Path: b.From}).holds(p.Path) < 0 {
				continue
			}
			if way := wayTo(reach, p.Path, b.To); way != nil {
				errs = append(errs, fmt.Errorf("%s must not reach %s (%s), and does: %s", p.Path, b.To, b.Why, strings.Join(way, " → ")))
			}
		}
	}
	return errors.Join(errs...)
}

// wayTo is a shortest chain of imports from a package into a room; nil if there is none.
func wayTo(imports map[string][]string, from, to string) []string {
	seen := map[string]bool{from: true}
	for ways := [][]string{{from}}; len(ways) > 0; ways = ways[1:] {
		way := ways[0]
		at := way[len(way)-1]
		if len(way) > 1 && (Room{Path: to}).holds(at) >= 0 {
			return way
		}
		for _, next := range imports[at] {
			if !seen[next] {
				seen[next] = true
				ways = append(ways, append(slices.Clone(way), next))
			}
		}
	}
	return nil
}

// Limits are the lines that need no excuse.
type Limits struct{ Package, File, Function int }

// CheckLengths reports what is longer than the limits and has no sentence that begins with "Long: ". Names are those of
// packages, files with their folder, and functions as folder.Name.
func CheckLengths(all []Package, l Limits) error {
	var errs []error
	look := func(name string, lines, limit int, excused bool) {
		if lines <= limit || excused {
			return
		}
		errs = append(errs, fmt.Errorf("%s has %d lines, %d are allowed: cut it up, or say why it is long (// %s…)", name, lines, limit, longMark))
	}
	for _, p := range all {
		look(p.Path, p.Lines, l.Package, p.Long)
		for _, f := range p.Files {
			look(path.Join(p.Path, f.Name), f.Lines, l.File, f.Long)
			for _, fn := range f.Functions {
				look(p.Path+"."+fn.Name, fn.Lines, l.Function, fn.Long)
			}
		}
	}
	return errors.Join(errs...)
}
