package scarce

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// says is an answer of something else than the server, as a proxy or a login page on the way gives.
type says struct {
	status int
	header map[string]string
	body   string
}

// Nothing in these says whether a change was applied.
var saysNothing = map[string]says{
	"a page":                           {200, nil, "<html>"},
	"another object":                   {200, nil, `{"ok":true,"available":5,"balance":5}`},
	"the receipt of another operation": {200, nil, `{"available":5,"balance":5,"receipt":{"operation":"x"}}`},
	"a list":                           {200, nil, "[]"},
	"null":                             {200, nil, "null"},
	"half of it":                       {200, map[string]string{"Content-Length": "100"}, `{"receipt":{"operation":"`},
	"another service":                  {502, nil, `{"code":500,"status":"error"}`},
	"a refusal of another status":      {502, nil, `{"code":"ACCOUNT_NOT_FOUND","status":404,"title":"t","advice":"a"}`},
}

// Here it was certainly not taken.
var notTaken = map[string]says{
	"elsewhere":                      {302, map[string]string{"Location": "/elsewhere"}, ""},
	"elsewhere, with the body":       {307, map[string]string{"Location": "/elsewhere"}, ""},
	"in a year":                      {429, map[string]string{"Retry-After": "31536000"}, ""},
	"when no clock can say":          {429, map[string]string{"Retry-After": "9999999999999"}, ""},
	"a refusal that lacks its words": {404, nil, `{"code":"ACCOUNT_NOT_FOUND","status":404}`},
}

// stranger gives a client of something that always answers the same, and how often it was asked.
func stranger(t *testing.T, its says) (*Client, *int) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if strings.HasSuffix(r.URL.Path, "/elsewhere") {
			t.Error("the redirect was followed")
		}
		for name, value := range its.header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(its.status)
		_, _ = w.Write([]byte(its.body))
	}))
	t.Cleanup(server.Close)
	return New(server.URL, Config{Timeout: 500 * time.Millisecond}), &asked
}

func TestWhatIsNotTheServersAnswerLeavesAChangeUndecided(t *testing.T) {
	for what, its := range saysNothing {
		client, _ := stranger(t, its)
		debit := AccountDebitArguments{Account: "a", Amount: 5}
		outcome, err := client.Account.Debit(context.Background(), debit)
		if err != nil || outcome.Undecided == nil {
			t.Errorf("%s: %+v %v", what, outcome, err)
		}
		lines, err := client.Batch(context.Background(), []Line{{Arguments: debit}, {Arguments: debit}})
		for _, line := range lines {
			if err != nil || line.Err != nil || line.Undecided == nil {
				t.Errorf("%s: %+v %v", what, line, err)
			}
		}
		all, err := client.Atomic(context.Background(), []Arguments{debit})
		if err != nil || all.Undecided == nil {
			t.Errorf("%s: %+v %v", what, all, err)
		}
	}
}

func TestWhatWasNotTakenIsAnErrorAndNobodyWaitsForAYear(t *testing.T) {
	for what, its := range notTaken {
		client, asked := stranger(t, its)
		outcome, err := client.Account.Debit(context.Background(), AccountDebitArguments{Account: "a", Amount: 5})
		if err == nil {
			t.Errorf("%s: %+v", what, outcome)
		}
		if *asked != 1 {
			t.Errorf("%s: it was asked %d times", what, *asked)
		}
	}
}
