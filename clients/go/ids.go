package scarce

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// A difference of the clocks below this is not corrected.
const differenceMin = 5 * time.Second

// clock is the server's, as far as its answers tell. IDs that are ahead of it are refused.
type clock struct {
	now   func() time.Time
	ahead atomic.Int64
}

// learn takes the Date of an answer.
func (c *clock) learn(date string) {
	theirs, err := http.ParseTime(date)
	if err != nil {
		return
	}
	difference := theirs.Sub(c.now())
	if difference.Abs() < differenceMin {
		difference = 0
	}
	c.ahead.Store(int64(difference))
}

// newID gives an ID that carries its time (UUIDv7), so that a very late copy is refused instead of applied again.
func (c *clock) newID() string {
	var bytes [16]byte
	// It does not fail on the systems that Go supports.
	_, _ = rand.Read(bytes[:])
	ms := uint64(c.now().Add(time.Duration(c.ahead.Load())).UnixMilli())
	binary.BigEndian.PutUint64(bytes[:8], ms<<16|0x7000|uint64(binary.BigEndian.Uint16(bytes[6:8])&0x0fff))
	bytes[8] = 0x80 | bytes[8]&0x3f
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}
