// SPDX-License-Identifier: Apache-2.0

// Package evidence builds the page that puts the paper's figures beside ours. Ours come from records: files that a command's JSON was
// turned into, each with the command, the date and the digest of what was measured. The page itself (page.yaml) has the paper's figures
// and places for ours; a figure of ours that is typed into it, and a record without a command, are errors. Rules known to be wrong stand on it as
// scenarios that are replayed on the reference while the page is made.
package evidence
