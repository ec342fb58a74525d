// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"crypto/sha256"
	"fmt"
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

// module is the path that imports of this module's packages begin with.
const module = "incforge/"

// digestOf is the digest of what folders of Go packages are made of: all files of theirs but tests, and those of the packages of this module that
// they import, directly or not. What packages embed lies in their folders.
func digestOf(root string, folders []string) (string, error) {
	files, err := sources(root, folders)
	if err != nil {
		return "", fmt.Errorf("evidence: %w", err)
	}
	h := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return "", fmt.Errorf("evidence: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n%s", file, len(text), text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// sources are the files of folders and of what they import, in order, with slashes, from the root.
func sources(root string, folders []string) ([]string, error) {
	files, seen := map[string]bool{}, map[string]bool{}
	for todo := slices.Clone(folders); len(todo) > 0; {
		folder := todo[0]
		if todo = todo[1:]; seen[folder] {
			continue
		}
		seen[folder] = true
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || strings.HasSuffix(file, "_test.go") || filepath.Ext(file) == ".md":
				return nil
			}
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(rel)] = true
			if filepath.Ext(file) != ".go" {
				return nil
			}
			more, err := imports(file)
			todo = append(todo, more...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(files)), nil
}

// imports are the folders of this module's packages that a Go file imports.
func imports(file string) (folders []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		if folder, ok := strings.CutPrefix(name, module); ok {
			folders = append(folders, path.Clean(folder))
		}
	}
	return folders, nil
}
