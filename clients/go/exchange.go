package scarce

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// idHeader is the header with the ID of a change.
const idHeader = "Idempotency-Key"

// waitMax is longer than any call; longer waits could not be counted in nanoseconds.
const waitMax = 366 * 24 * time.Hour

// request is a request that can be sent again.
type request struct {
	method, path string
	headers      map[string]string
	body         []byte
}

// problem is a problem document.
type problem struct {
	Code      Code            `json:"code"`
	Status    int             `json:"status"`
	Title     string          `json:"title"`
	Detail    string          `json:"detail"`
	Advice    string          `json:"advice"`
	Retryable bool            `json:"retryable"`
	Facts     json.RawMessage `json:"facts"`
}

// answered is an answer that is final.
type answered struct {
	body       []byte
	problem    *problem
	isReplayed bool
}

// decision is an answer or an error, and whether an attempt without an answer may have been applied.
type decision struct {
	answer *answered
	err    *Error
	doubt  bool
}

// exchange sends requests until they are answered or their time is up.
type exchange struct {
	base    string
	headers map[string]string
	client  *http.Client
	clock   *clock
	config  Config
}

// decide sends a request again until it is decided. doubt: an earlier attempt may have been applied.
func (e *exchange) decide(ctx context.Context, its request, doubt bool) decision {
	err := &Error{Code: Unreachable, Message: "there was no time to send it"}
	for attempt := 0; ctx.Err() == nil; attempt++ {
		answer, wait, failure := e.attempt(ctx, its, &doubt)
		if failure == nil {
			if !answer.isTransient() {
				return decision{answer, nil, doubt}
			}
			doubt = doubt || answer.mayBeApplied()
			err = answer.err()
		} else {
			err = failure
			if isFatal(failure) {
				break
			}
		}
		if !pause(ctx, e.config.pauseBefore(attempt, wait)) {
			break
		}
	}
	if err.cause == nil {
		err.cause = context.Cause(ctx)
	}
	return decision{nil, err, doubt}
}

// attempt sends a request once. It sets doubt if the request may have been applied without an answer.
func (e *exchange) attempt(ctx context.Context, its request, doubt *bool) (*answered, time.Duration, *Error) {
	ctx, cancel := context.WithTimeout(ctx, e.config.AttemptTimeout)
	defer cancel()
	// The library sends some requests again by itself.
	var sent atomic.Int32
	trace := &httptrace.ClientTrace{WroteHeaders: func() { sent.Add(1) }}
	response, err := e.open(httptrace.WithClientTrace(ctx, trace), its)
	var body []byte
	if err == nil {
		defer response.Body.Close()
		body, err = io.ReadAll(response.Body)
	}
	*doubt = *doubt || sent.Load() > 1
	if err != nil {
		code := Unreachable
		if sent.Load() > 0 {
			code, *doubt = Lost, true
		}
		return nil, 0, &Error{Code: code, Message: err.Error(), cause: err}
	}
	e.clock.learn(response.Header.Get("Date"))
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	wait := min(time.Duration(max(0, seconds)), waitMax/time.Second) * time.Second
	return read(response, body, its.headers[idHeader]), wait, nil
}

// open sends a request and reads the head of the answer.
func (e *exchange) open(ctx context.Context, its request) (*http.Response, error) {
	sent, err := http.NewRequestWithContext(ctx, its.method, e.base+its.path, bytes.NewReader(its.body))
	if err != nil {
		return nil, err
	}
	for _, headers := range []map[string]string{e.headers, its.headers} {
		for name, value := range headers {
			sent.Header.Set(name, value)
		}
	}
	return e.client.Do(sent)
}

func isFatal(err error) bool {
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &untrusted)
}

// pauseBefore is exponential with full jitter; after what the server asks for, so that callers do not all come at once.
func (c Config) pauseBefore(attempt int, wait time.Duration) time.Duration {
	ceiling := min(c.Pause<<min(attempt, 20), c.PauseMax)
	return wait + time.Duration(rand.Float64()*float64(max(ceiling, wait/4)))
}

// pause waits, unless that would leave no time for an attempt after it.
func pause(ctx context.Context, length time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= length {
		return false
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func read(response *http.Response, body []byte, id string) *answered {
	its := &answered{body: body, isReplayed: response.Header.Get("Idempotency-Replayed") == "true"}
	isGood := response.StatusCode >= 200 && response.StatusCode < 300
	if isGood && isOf(body, id) {
		return its
	}
	said, err := decoded[problem](body)
	switch {
	case isGood:
		its.problem = garbled(http.StatusBadGateway, body)
	case err != nil || !said.isTold(response.StatusCode):
		its.problem = garbled(response.StatusCode, body)
	default:
		its.problem = &said
	}
	return its
}

// isOf says whether a body tells that a change was applied under this ID, or is an object where there is none. Anything
// else may come from what stands between us and the server, and says nothing of the change.
func isOf(body []byte, id string) bool {
	said, err := decoded[map[string]json.RawMessage](body)
	if err != nil || said == nil {
		return false
	}
	receipt, err := decoded[Receipt](said["receipt"])
	return id == "" || err == nil && receipt.Operation == id
}

// isTold says whether a problem is one of the server.
func (p *problem) isTold(status int) bool {
	return p.Status == status && p.Code != "" && p.Title != "" && p.Advice != ""
}

// garbled is what something else than the server says.
func garbled(status int, body []byte) *problem {
	title := "no answer of Scarce: " + string(body[:min(len(body), 200)])
	return &problem{Code: Garbled, Status: status, Title: title, Advice: "Check what answers at this address."}
}

// isTransient says whether the request should be sent again.
func (a *answered) isTransient() bool {
	return a.problem != nil && (a.problem.Status == 408 || a.problem.Status == 429 || a.problem.Status >= 500)
}

// mayBeApplied says whether a request that is answered so may have been applied, or may yet be.
func (a *answered) mayBeApplied() bool {
	return a.problem != nil && a.problem.Status >= 500 && a.problem.Code != Overloaded
}

// isRefusal says whether it is an answer of the rules. A code that is newer than this client is one by its status.
func (a *answered) isRefusal() bool {
	if is, isKnown := isRefusal(a.problem.Code); isKnown {
		return is
	}
	return a.problem.Code != Garbled && (a.problem.Status == 404 || a.problem.Status == 409 || a.problem.Status == 422)
}

// err is a problem as an error.
func (a *answered) err() *Error {
	its := a.problem
	said := its.Detail
	if said == "" {
		said = its.Title
	}
	// Facts that cannot be read are left out.
	facts, _ := decoded[map[string]any](its.Facts)
	return &Error{Code: its.Code, Message: strings.TrimSpace(said + " " + its.Advice), Status: its.Status, Facts: facts}
}
