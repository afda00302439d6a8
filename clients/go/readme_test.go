package scarce

// The example of the README, run against a server: SCARCE_URL=… go test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

func TestTheExamplePrintsWhatTheReadmeSays(t *testing.T) {
	calm(t, Config{})
	page, err := os.ReadFile("README.md")
	equal(t, err, nil)
	block := func(language string) []byte {
		return regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(page)[1]
	}
	folder, err := os.MkdirTemp(".", "readme-")
	equal(t, err, nil)
	defer os.RemoveAll(folder)
	equal(t, os.WriteFile(filepath.Join(folder, "main.go"), block("go"), 0o600), nil)
	shown, err := exec.Command("go", "run", "./"+folder).CombinedOutput()
	equal(t, string(shown), string(block("text")))
	equal(t, err, nil)
}
