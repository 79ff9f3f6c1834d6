package crossdock

import (
	"context"
	"errors"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// waitAfter returns how long to wait before the next attempt, and whether there is one.
func (c *caller) waitAfter(failure error, request *http.Request, retries int, start time.Time) (time.Duration, bool) {
	if retries >= c.maxRetries || request.Context().Err() != nil || !isTemporary(failure, request) {
		return 0, false
	}
	wait := pause(retries)
	var refusal *Error
	if errors.As(failure, &refusal) {
		wait = max(wait, refusal.RetryAfter)
		if refusal.RetryAfter > c.maxWait {
			return 0, false
		}
	}
	return wait, time.Since(start)+wait <= c.lastAttempt
}

func isTemporary(failure error, request *http.Request) bool {
	var refusal *Error
	if errors.As(failure, &refusal) {
		if refusal.Status == http.StatusRequestTimeout && request.Context().Value(divisibleKey{}) != nil {
			return false
		}
		isRefused := slices.Contains(retryAlways, refusal.Status) || slices.Contains(retryCodes, refusal.Code)
		return isRefused || slices.Contains(retryRepeatable, refusal.Status) && isRepeatable(request)
	}
	var broken *ConnectionError
	return errors.As(failure, &broken) && (!broken.WasSent || isRepeatable(request))
}

// isRepeatable returns whether a request can be sent again although the first one may have been executed.
func isRepeatable(request *http.Request) bool {
	// The base URL can have a path too.
	isListed := slices.ContainsFunc(notRepeatable, func(operation string) bool {
		method, path, _ := strings.Cut(operation, " ")
		return method == request.Method && strings.HasSuffix(request.URL.Path, path)
	})
	return !isListed || request.Context().Value(repeatableKey{}) != nil
}

type repeatableKey struct{}

type divisibleKey struct{}

// divisible marks the requests of a context: after 408 the caller divides them, instead of sending all of it again.
func divisible(ctx context.Context) context.Context {
	return context.WithValue(ctx, divisibleKey{}, true)
}

// repeatable marks the requests of a context: repeating them does no harm.
func repeatable(ctx context.Context) context.Context {
	return context.WithValue(ctx, repeatableKey{}, true)
}

// pause returns the pause before a retry, which doubles and is partly random, so that clients do not all return together.
func pause(retries int) time.Duration {
	longest := min(longestPause, firstPause*math.Pow(pauseFactor, float64(retries)))
	return seconds(longest * (1 - pauseJitter*mathrand.Float64()))
}

func seconds(count float64) time.Duration { return time.Duration(count * float64(time.Second)) }

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryAfter reads the header Retry-After, in seconds or as a date.
func retryAfter(value string) time.Duration {
	// More than a day would only overflow.
	if count, err := strconv.ParseUint(value, 10, 64); err == nil {
		return seconds(float64(min(count, 24*60*60)))
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}
