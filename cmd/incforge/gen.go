// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"incforge/contract"
	"incforge/rtlgen"
	"incforge/rtlgen/params"
	"incforge/verify/dut"
)

// buildDir is where outputs go unless the user says otherwise.
const buildDir = "build"

func (a *app) gen() *cobra.Command {
	var (
		flags    configFlags
		dir      string
		asserted bool
	)
	cmd := &cobra.Command{Use: "gen CONFIG", Short: "Generate the Verilog, its file lists, register descriptions, constraints and manifest",
		Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
			p, err := flags.load(args[0])
			if err != nil {
				return err
			}
			generate := rtlgen.Generate
			if asserted {
				generate = rtlgen.GenerateAsserted
			}
			design, err := generate(p)
			if err != nil {
				return err
			}
			if dir == "" {
				dir = filepath.Join(buildDir, p.Name)
			}
			if err := design.Write(dir); err != nil {
				return err
			}
			m := design.Manifest
			fmt.Fprintf(a.out, "%s: %d Verilog files, %d registers, digest %.12s, in %s\n", m.Name, len(m.Files), len(m.Registers), m.Digest, dir)
			return nil
		}}
	flags.bind(cmd)
	cmd.Flags().StringVarP(&dir, "output", "o", "", "folder to write to (default build/NAME)")
	cmd.Flags().BoolVar(&asserted, "assert", false, "put the assertions into the Verilog, for tools that have no bind; without it they lie beside, in sva/")
	return cmd
}

// generated returns the generated folder that an argument CONFIG or DIR stands for: DIR itself, or a temporary one generated from
// CONFIG that done removes.
func (a *app) generated(arg string, flags *configFlags) (dir string, done func(), err error) {
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		if len(flags.sets) > 0 {
			return "", nil, usagef("--set changes parameters, and %s is already generated", arg)
		}
		dir, err := manifestFolder(arg)
		if err != nil {
			return "", nil, err
		}
		if dir == "" {
			return "", nil, usagef("%s is not a generated folder: it has no %s", arg, contract.FileName)
		}
		return dir, func() {}, nil
	}
	p, err := flags.load(arg)
	if err != nil {
		return "", nil, err
	}
	design, err := rtlgen.Generate(p)
	if err != nil {
		return "", nil, err
	}
	return a.temporary(design)
}

// described returns the manifest of what has no Verilog that could be generated, a reference engine of Mode I with more than the Verilog has (docs/termination.md section 11); nil for everything else.
func (a *app) described(arg string, flags *configFlags, kind dut.Kind) (*contract.Manifest, error) {
	if info, err := os.Stat(arg); kind != dut.KindReference || err == nil && info.IsDir() {
		return nil, nil
	}
	p, err := flags.load(arg)
	if err != nil || p.Mode != 1 {
		return nil, err
	}
	return rtlgen.Describe(p)
}

// source returns the DUT of a kind that needs nothing but CONFIG; what is generated for it is removed by done.
func (a *app) source(arg string, flags *configFlags, kind dut.Kind) (dut.Source, func(), error) {
	s := dut.Source{Kind: kind, Log: a.log}
	m, err := a.described(arg, flags, kind)
	if s.Manifest = m; err != nil || m != nil {
		return s, func() {}, err
	}
	dir, done, err := a.generated(arg, flags)
	s.ManifestDir = dir
	return s, done, err
}

// edited returns a generated folder with the Verilog of dir: dir itself (or its parent) if a manifest lies there, and otherwise a
// temporary one, generated from p, whose Verilog is replaced by dir's files of the same names.
func (a *app) edited(p params.Params, dir string) (string, func(), error) {
	at, err := manifestFolder(dir)
	if err != nil {
		return "", nil, err
	}
	if at == "" {
		return a.overlaid(p, dir)
	}
	m, err := contract.Load(at)
	if err != nil {
		return "", nil, fmt.Errorf("read the manifest of %s: %w", dir, err)
	}
	if !reflect.DeepEqual(m.Params, p.Contract()) {
		return "", nil, usagef("--rtl %s was generated from other parameters (%s there, %s here); give the same CONFIG and --set", dir, m.Params.Name, p.Name)
	}
	return at, func() {}, nil
}

// overlaid generates p and puts the Verilog files of dir in the place of its own. Every one must be there, or an edit could be missed.
func (a *app) overlaid(p params.Params, dir string) (string, func(), error) {
	design, err := rtlgen.Generate(p)
	if err != nil {
		return "", nil, err
	}
	for i, f := range design.Files {
		if !slices.Contains(design.Manifest.Files, f.Path) {
			continue
		}
		name := filepath.Join(dir, filepath.Base(f.Path))
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			return "", nil, usagef("--rtl %s has neither a %s nor %s of %s", dir, contract.FileName, filepath.Base(f.Path), p.Name)
		}
		if err != nil {
			return "", nil, fmt.Errorf("read the Verilog of %s: %w", dir, err)
		}
		design.Files[i].Data = text
	}
	return a.temporary(design)
}

// temporary writes a design to a folder of its own, which done removes.
func (a *app) temporary(design *rtlgen.Design) (dir string, done func(), err error) {
	if dir, err = os.MkdirTemp("", "incforge-"+design.Params.Name+"-"); err != nil {
		return "", nil, fmt.Errorf("make a folder for %s: %w", design.Params.Name, err)
	}
	done = func() {
		if err := os.RemoveAll(dir); err != nil {
			a.log.WithError(err).Warn("temporary folder")
		}
	}
	if err := design.Write(dir); err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// manifestFolder is the folder with the manifest: dir, or the one above when dir is the folder of the Verilog files. It is empty if there
// is none.
func manifestFolder(dir string) (string, error) {
	for _, at := range []string{dir, filepath.Dir(filepath.Clean(dir))} {
		_, err := os.Stat(contract.Path(at))
		switch {
		case err == nil:
			return at, nil
		case !errors.Is(err, os.ErrNotExist):
			return "", fmt.Errorf("read the manifest: %w", err)
		}
	}
	return "", nil
}
