package scarce

// What comes of commands on a calm server: SCARCE_URL=… SCARCE_TLS_URL=… SCARCE_TLS_CA=file SCARCE_KEY=… go test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bg is the context of calls that end by themselves.
var bg = context.Background()

func name(kind string) string {
	var bytes [8]byte
	_, _ = rand.Read(bytes[:])
	return fmt.Sprintf("go-%s-%x", kind, bytes)
}

func calm(t *testing.T, config Config) *Client {
	t.Helper()
	url := os.Getenv("SCARCE_URL")
	if url == "" {
		t.Skip("SCARCE_URL names no server")
	}
	c := New(url, config)
	t.Cleanup(c.Close)
	return c
}

// must gives the value of a command that has to be applied.
func must[T any](t *testing.T) func(Outcome[T], error) *Applied[T] {
	return func(outcome Outcome[T], err error) *Applied[T] {
		t.Helper()
		if err != nil || outcome.Applied == nil {
			t.Fatalf("not applied: %+v %+v %v", outcome.Refused, outcome.Undecided, err)
		}
		return outcome.Applied
	}
}

func equal(t *testing.T, is, wanted any) {
	t.Helper()
	if !reflect.DeepEqual(is, wanted) {
		t.Fatalf("%+v is not %+v", is, wanted)
	}
}

func codeOf(t *testing.T, err error) Code {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("%v is no error of Scarce", err)
	}
	return failure.Code
}

func item(t *testing.T, c *Client, quantity int64) string {
	t.Helper()
	sku := name("sku")
	must[StockCreateResult](t)(c.Stock.Create(bg, StockCreateArguments{Sku: sku, Quantity: quantity}))
	return sku
}

func take(sku string, quantity int64) StockTakeArguments {
	return StockTakeArguments{Sku: sku, Quantity: quantity, Owner: "a"}
}

func TestAChangeHasValuesAndAReceiptAndItsDuplicateTheSameAgain(t *testing.T) {
	c := calm(t, Config{})
	sku, id := item(t, c, 3), name("order")
	first := must[StockTakeResult](t)(c.Stock.Take(bg, take(sku, 2), WithID(id)))
	equal(t, first.Value, StockTakeResult{FirstSerial: 1, Remaining: 1})
	equal(t, []any{first.Receipt.Operation, first.Receipt.Durability, first.Replayed}, []any{id, "synced", false})
	again := must[StockTakeResult](t)(c.Stock.Take(bg, take(sku, 2), WithID(id)))
	equal(t, []any{again.Value, *again.Receipt, again.Replayed}, []any{first.Value, *first.Receipt, true})
	other, err := c.Stock.Take(bg, take(sku, 1), WithID(id))
	equal(t, []any{err, other.Refused.Code}, []any{nil, IdReused})
}

func TestARefusalIsAValueWithItsFactsOfReadsToo(t *testing.T) {
	c := calm(t, Config{})
	refused, err := c.Stock.Take(bg, take(item(t, c, 1), 2))
	equal(t, []any{err, refused.Refused.Code, refused.Refused.Retryable}, []any{nil, InsufficientStock, true})
	facts, err := FactsOf[InsufficientStockFacts](refused.Refused)
	equal(t, []any{err, facts}, []any{nil, InsufficientStockFacts{Available: 1, Requested: 2}})
	missing, err := c.Account.Get(bg, AccountGetArguments{Account: name("nobody")})
	equal(t, []any{err, missing.Refused.Code}, []any{nil, AccountNotFound})
}

func TestANewIDCarriesItsTimeThoughTheClockOfThisMachineIsWrong(t *testing.T) {
	sku := item(t, calm(t, Config{}), 2)
	for _, wrong := range []time.Duration{time.Hour, -7 * 24 * time.Hour} {
		c := calm(t, Config{})
		c.exchange.clock.now = func() time.Time { return time.Now().Add(wrong) }
		if wrong < 0 {
			// A clock that is behind is known from any answer.
			must[StockGetResult](t)(c.Stock.Get(bg, StockGetArguments{Sku: sku}))
		}
		taken := must[StockTakeResult](t)(c.Stock.Take(bg, take(sku, 1)))
		ms, err := strconv.ParseInt(strings.ReplaceAll(taken.Receipt.Operation, "-", "")[:12], 16, 64)
		if err != nil || time.Since(time.UnixMilli(ms)).Abs() > 10*time.Second {
			t.Fatalf("%d is not the time", ms)
		}
	}
}

func TestADryRunAndADeadline(t *testing.T) {
	c := calm(t, Config{})
	sku := item(t, c, 1)
	told := must[StockTakeResult](t)(c.Stock.Take(bg, take(sku, 1), DryRun()))
	equal(t, []any{told.Value.FirstSerial, told.Receipt == nil}, []any{int64(1), true})
	late, err := c.Stock.Take(bg, take(sku, 1), WithDeadline(time.UnixMilli(1)))
	equal(t, []any{err, late.Refused.Code}, []any{nil, DeadlinePassed})
	equal(t, must[StockGetResult](t)(c.Stock.Get(bg, StockGetArguments{Sku: sku})).Value.Available, int64(1))
}

func TestLinesOfABatchHaveOutcomesOfTheirOwn(t *testing.T) {
	c := calm(t, Config{})
	sku := item(t, c, 1_200)
	id := name("order")
	some, err := c.Batch(bg, []Line{{take(sku, 1), []Option{WithID(id)}}, {take(sku, 5_000), nil}, {StockGetArguments{Sku: sku}, nil}})
	equal(t, []any{err, some[0].Applied.Receipt.Operation, some[1].Refused.Code}, []any{nil, id, InsufficientStock})
	equal(t, some[2].Applied.Value.(StockGetResult).Available, int64(1_199))
	// More than a request may have.
	lines := make([]Line, 1_300)
	for at := range lines {
		lines[at] = Line{Arguments: take(sku, 1)}
	}
	many, err := c.Batch(bg, lines)
	equal(t, []any{err, many[1_198].Applied != nil, many[1_199].Refused.Code}, []any{nil, true, SoldOut})
}

func TestAnAtomicBatchIsAppliedWholeOrNotAtAll(t *testing.T) {
	c := calm(t, Config{})
	tag := "{" + name("tag") + "}"
	sku, payer, shop := "s"+tag, "p"+tag, "q"+tag
	must[StockCreateResult](t)(c.Stock.Create(bg, StockCreateArguments{Sku: sku, Quantity: 1}))
	for _, account := range []string{payer, shop} {
		must[AccountOpenResult](t)(c.Account.Open(bg, AccountOpenArguments{Account: account, Asset: "EUR"}))
	}
	must[AccountCreditResult](t)(c.Account.Credit(bg, AccountCreditArguments{Account: payer, Amount: 1_000}))
	lines := []Arguments{AccountTransferArguments{From: payer, To: shop, Amount: 100}, take(sku, 1)}
	done := must[[]any](t)(c.Atomic(bg, lines))
	equal(t, done.Value[0].(AccountTransferResult).FromAvailable, int64(900))
	refused, err := c.Atomic(bg, lines)
	equal(t, []any{err, refused.Refused.Code}, []any{nil, BatchRefused})
	facts, err := FactsOf[BatchRefusedFacts](refused.Refused)
	equal(t, []any{err, facts.Index, facts.Code}, []any{nil, int64(1), "SOLD_OUT"})
}

func TestMistakesAndAnAbsentServerAreErrors(t *testing.T) {
	c := calm(t, Config{})
	_, err := c.Stock.Take(bg, take("no spaces", 1))
	equal(t, codeOf(t, err), Invalid)
	_, err = c.Live("nothing.s").Next(bg)
	equal(t, codeOf(t, err), Invalid)
	away := New("http://127.0.0.1:9", Config{Timeout: 300 * time.Millisecond})
	_, err = away.Stock.Take(bg, take("s", 1))
	equal(t, codeOf(t, err), Unreachable)
	equal(t, regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(Version), true)
}

// badLine loses answers.
type badLine struct {
	http.RoundTripper
	answers bool
}

func (l *badLine) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(request)
	if err != nil || l.answers {
		return response, err
	}
	response.Body.Close()
	return nil, errors.New("the answer was lost")
}

func TestAnUnansweredChangeIsUndecidedUntilTheServerIsAsked(t *testing.T) {
	c := calm(t, Config{Timeout: 300 * time.Millisecond})
	line := &badLine{c.exchange.client.Transport, true}
	sku := item(t, c, 2)
	c.exchange.client.Transport = line
	line.answers = false
	applied, err := c.Stock.Take(bg, take(sku, 1))
	equal(t, []any{err, applied.Undecided.Reason.Code}, []any{nil, Lost})
	line.answers = true
	asked := must[StockTakeResult](t)(applied.Undecided.Ask(bg))
	equal(t, []any{asked.Value.FirstSerial, asked.Replayed}, []any{int64(1), true})

	// One that never arrived.
	ready, err := c.toSend(take(sku, 1), options{})
	equal(t, err, nil)
	never := &Undecided[StockTakeResult]{ready.id, nil, c.undecided(ready, nil).Undecided.again}
	open, err := never.Ask(bg)
	equal(t, []any{err, open.Undecided.Reason.Code}, []any{nil, OperationNotFound})
	settled, err := never.Resolve(bg)
	equal(t, []any{err, *settled.Absent}, []any{nil, Absent{ready.id}})
	after, err := never.Retry(bg)
	equal(t, []any{err, after.Refused.Code}, []any{nil, ResolvedAbsent})
	equal(t, must[StockGetResult](t)(c.Stock.Get(bg, StockGetArguments{Sku: sku})).Value.Sold, int64(1))
}

func TestTLSAndAKeyAreUsedAndAWrongOneIsAnError(t *testing.T) {
	calm(t, Config{})
	pem, err := os.ReadFile(os.Getenv("SCARCE_TLS_CA"))
	equal(t, err, nil)
	authorities := x509.NewCertPool()
	equal(t, authorities.AppendCertsFromPEM(pem), true)
	url, key, trust := os.Getenv("SCARCE_TLS_URL"), os.Getenv("SCARCE_KEY"), &tls.Config{RootCAs: authorities}
	item(t, New(url, Config{Key: key, TLS: trust}), 1)
	_, err = New(url, Config{TLS: trust}).Stock.Get(bg, StockGetArguments{Sku: "s"})
	equal(t, codeOf(t, err), Code("UNAUTHENTICATED"))
	started := time.Now()
	_, err = New(url, Config{Key: key}).Stock.Get(bg, StockGetArguments{Sku: "s"})
	equal(t, codeOf(t, err), Unreachable)
	// A certificate that is not trusted is not tried again.
	equal(t, time.Since(started) < 10*time.Second, true)
}
