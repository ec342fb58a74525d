// SPDX-License-Identifier: Apache-2.0

package ibverbs

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"incforge/commlib/verbs"
	"incforge/roce"
)

// port is a port of a device with the GID that its packets have.
type port struct {
	device      string
	number, gid uint8
	address     verbs.Address
}

// errNoPort means that no port of a device can speak RoCEv2 over IPv4.
var errNoPort = errors.New("no port has a GID of RoCEv2 over IPv4: is the interface up, and has it an IPv4 address?")

// findPort finds the port of a device, or of the first that has one if no name is given. sys is where sysfs is mounted.
func findPort(sys, name string) (port, error) {
	class := filepath.Join(sys, "class/infiniband")
	devices, err := entries(class)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return port{}, err
	}
	if name != "" && !slices.Contains(devices, name) {
		return port{}, fmt.Errorf("there is no RDMA device %q; there is: %s", name, list(devices))
	}
	if name != "" {
		devices = []string{name}
	}
	if len(devices) == 0 {
		return port{}, errors.New("there is no RDMA device")
	}
	for _, d := range devices {
		ports, err := entries(filepath.Join(class, d, "ports"))
		if err != nil {
			return port{}, err
		}
		for _, number := range ports {
			if p, ok := readPort(sys, d, number); ok {
				return p, nil
			}
		}
	}
	return port{}, fmt.Errorf("RDMA device %s: %w", list(devices), errNoPort)
}

// list is a list in words.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// entries are the names in a folder, numbers by their size.
func entries(dir string) (names []string, err error) {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		names = append(names, e.Name())
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(a) - len(b) })
	return names, err
}

// readPort finds the first GID of RoCEv2 over IPv4.
func readPort(sys, device, number string) (p port, ok bool) {
	dir := filepath.Join(sys, "class/infiniband", device, "ports", number)
	n, err := strconv.ParseUint(number, 10, 8)
	if err != nil {
		return p, false
	}
	gids, err := entries(filepath.Join(dir, "gids"))
	if err != nil {
		return p, false
	}
	for _, index := range gids {
		i, err := strconv.ParseUint(index, 10, 8)
		gid, aerr := netip.ParseAddr(line(dir, "gids", index))
		if err != nil || aerr != nil || !gid.Is4In6() || !strings.EqualFold(line(dir, "gid_attrs/types", index), "RoCE v2") {
			continue
		}
		mac, err := roce.ParseMAC(line(sys, "class/net", line(dir, "gid_attrs/ndevs", index), "address"))
		if err != nil {
			continue
		}
		return port{device, uint8(n), uint8(i), verbs.Address{IP: roce.IP4(gid.Unmap().As4()), MAC: mac}}, true
	}
	return p, false
}

// line is what a file of sysfs says. One that cannot be read says nothing: the entries of a table that are not in use cannot.
func line(path ...string) string {
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
