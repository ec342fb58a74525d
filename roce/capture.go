// SPDX-License-Identifier: Apache-2.0

package roce

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Captured is a frame of a capture with its port and time.
type Captured struct {
	Port  int       // the interface id; 0 for all frames of a classic pcap
	Time  time.Time // to the nanosecond, in UTC
	Frame []byte    // without FCS; owned by the caller
}

// CaptureReader reads pcap of any byte order and resolution, and pcapng, either of them gzipped or not. Only Ethernet, and
// only frames captured whole.
type CaptureReader struct {
	source interface {
		ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
	}
	ng    *pcapgo.NgReader // nil for classic pcap
	count int
}

// pcapng files start with this block type, the same in both byte orders.
const ngSectionHeader = 0x0A0D0D0A

// NewCaptureReader reads the file header and refuses anything but captures of Ethernet.
func NewCaptureReader(r io.Reader) (*CaptureReader, error) {
	br := bufio.NewReader(r)
	if magic, err := br.Peek(2); err == nil && magic[0] == 0x1F && magic[1] == 0x8B {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("roce: gzipped capture: %w", err)
		}
		br = bufio.NewReader(z)
	}
	magic, err := br.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("roce: capture header: %w", noEOF(err))
	}
	c := &CaptureReader{}
	var link layers.LinkType
	if binary.LittleEndian.Uint32(magic) == ngSectionHeader {
		ng, err := pcapgo.NewNgReader(br, pcapgo.NgReaderOptions{ErrorOnMismatchingLinkType: true})
		if err != nil {
			return nil, fmt.Errorf("roce: pcapng header: %w", noEOF(err))
		}
		c.source, c.ng, link = ng, ng, ng.LinkType()
	} else {
		classic, err := pcapgo.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("roce: pcap header: %w", noEOF(err))
		}
		c.source, link = classic, classic.LinkType()
	}
	if link != layers.LinkTypeEthernet {
		return nil, fmt.Errorf("roce: capture of link type %v, want Ethernet", link)
	}
	return c, nil
}

// Next is the next frame, or io.EOF at a clean end. A file that ends inside a frame is io.ErrUnexpectedEOF, and a frame of
// which the capture holds only a part is an error too: its ICRC could not be checked.
func (c *CaptureReader) Next() (Captured, error) {
	data, info, err := c.source.ReadPacketData()
	if errors.Is(err, io.EOF) && info.CaptureLength == 0 {
		return Captured{}, io.EOF
	}
	c.count++
	if err != nil {
		return Captured{}, fmt.Errorf("roce: frame %d of the capture: %w", c.count, noEOF(err))
	}
	if info.CaptureLength != info.Length {
		return Captured{}, fmt.Errorf("roce: frame %d of the capture has %d of its %d bytes", c.count, info.CaptureLength, info.Length)
	}
	return Captured{Port: info.InterfaceIndex, Time: info.Timestamp.UTC(), Frame: data}, nil
}

// Ports is the names of the interfaces seen so far, indexed by port; "" for those without. A classic pcap has one.
func (c *CaptureReader) Ports() []string {
	if c.ng == nil {
		return []string{""}
	}
	names := make([]string, c.ng.NInterfaces())
	for i := range names {
		if f, err := c.ng.Interface(i); err == nil {
			names[i] = f.Name
		}
	}
	return names
}

// noEOF turns an end of file where it is unexpected into io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ReadCapture reads a whole capture file and the names of its ports.
func ReadCapture(path string) (frames []Captured, ports []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("roce: open capture: %w", err)
	}
	defer f.Close() // read only: nothing can be lost
	r, err := NewCaptureReader(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	for {
		c, err := r.Next()
		if err == io.EOF {
			return frames, r.Ports(), nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		frames = append(frames, c)
	}
}

// CaptureWriter writes pcapng with one named interface per port and nanosecond timestamps. The file depends only on the
// frames written: it contains no date, host or tool version.
type CaptureWriter struct {
	w *pcapgo.NgWriter
}

// NewCaptureWriter writes the file header and an interface for each port, at least one. Names go where Wireshark shows
// the interface of a frame. Call Flush before closing w.
func NewCaptureWriter(w io.Writer, ports []string) (*CaptureWriter, error) {
	if len(ports) == 0 {
		return nil, errors.New("roce: a pcapng needs one port at least")
	}
	intf := func(name string) pcapgo.NgInterface {
		return pcapgo.NgInterface{Name: name, LinkType: layers.LinkTypeEthernet}
	}
	options := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "incforge"}}
	ng, err := pcapgo.NewNgWriterInterface(w, intf(ports[0]), options)
	if err != nil {
		return nil, fmt.Errorf("roce: pcapng header: %w", err)
	}
	for _, name := range ports[1:] {
		if _, err := ng.AddInterface(intf(name)); err != nil {
			return nil, fmt.Errorf("roce: pcapng interface %q: %w", name, err)
		}
	}
	return &CaptureWriter{ng}, nil
}

// Write appends a frame. Its port must be one of NewCaptureWriter's; its time from 1970 to 2262, which is what pcapng
// holds in nanoseconds. A simulation's time t in nanoseconds is time.Unix(0, t).
func (c *CaptureWriter) Write(f Captured) error {
	if year := f.Time.UTC().Year(); year < 1970 || year >= 2262 {
		return fmt.Errorf("roce: pcapng cannot hold the time %v", f.Time)
	}
	info := gopacket.CaptureInfo{Timestamp: f.Time, CaptureLength: len(f.Frame), Length: len(f.Frame), InterfaceIndex: f.Port}
	if err := c.w.WritePacket(info, f.Frame); err != nil {
		return fmt.Errorf("roce: write frame of port %d: %w", f.Port, err)
	}
	return nil
}

// Flush writes buffered data to the underlying writer.
func (c *CaptureWriter) Flush() error {
	if err := c.w.Flush(); err != nil {
		return fmt.Errorf("roce: flush pcapng: %w", err)
	}
	return nil
}

// WriteCapture writes a whole pcapng file, replacing what was there.
func WriteCapture(path string, ports []string, frames []Captured) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("roce: create capture: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := NewCaptureWriter(f, ports)
	if err != nil {
		return err
	}
	for _, c := range frames {
		if err := w.Write(c); err != nil {
			return err
		}
	}
	return w.Flush()
}
