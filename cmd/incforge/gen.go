// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"incforge/rtlgen"
)

// buildDir is where outputs go unless the user says otherwise.
const buildDir = "build"

func (a *app) gen() *cobra.Command {
	var (
		flags configFlags
		dir   string
	)
	cmd := &cobra.Command{Use: "gen CONFIG", Short: "Generate the Verilog, its file lists, register descriptions, constraints and manifest",
		Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
			p, err := flags.load(args[0])
			if err != nil {
				return err
			}
			design, err := rtlgen.Generate(p)
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
	return cmd
}

// generated returns the generated folder that an argument CONFIG or DIR stands for: DIR itself, or a temporary one generated from
// CONFIG, which done removes.
func (a *app) generated(arg string, flags *configFlags) (dir string, done func(), err error) {
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		if len(flags.sets) > 0 {
			return "", nil, usagef("--set changes parameters, and %s is already generated", arg)
		}
		dir, err = manifestDir(arg)
		return dir, func() {}, err
	}
	p, err := flags.load(arg)
	if err != nil {
		return "", nil, err
	}
	design, err := rtlgen.Generate(p)
	if err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp("", "incforge-"+p.Name+"-"); err != nil {
		return "", nil, fmt.Errorf("make a folder for %s: %w", p.Name, err)
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

// manifestDir returns the folder with the manifest: dir, or its parent when dir is the folder of the Verilog files.
func manifestDir(dir string) (string, error) {
	for _, d := range []string{dir, filepath.Dir(filepath.Clean(dir))} {
		switch _, err := os.Stat(filepath.Join(d, rtlgen.ManifestFile)); {
		case err == nil:
			return d, nil
		case !errors.Is(err, os.ErrNotExist):
			return "", fmt.Errorf("look for the manifest: %w", err)
		}
	}
	return "", usagef("%s has no %s, so it is no generated folder", dir, rtlgen.ManifestFile)
}
