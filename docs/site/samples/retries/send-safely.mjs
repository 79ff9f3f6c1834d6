const REPEATED = [408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530];

/**
 * Sends a POST request until the response is final, at most five times, and returns its status and its JSON.
 * Create one key for each change that you intend, and store it with the change.
 */
export async function sendSafely(url, { headers, body, key, limitMs = 30_000 }) {
  const startedAt = Date.now();
  for (let attempt = 1; ; attempt += 1) {
    // A redirect would hand the key to another host.
    const options = {
      method: 'POST',
      headers: { ...headers, 'Idempotency-Key': key },
      body,
      redirect: 'manual',
    };
    const { status, retryAfter, json } = await attemptOnce(url, options, limitMs);
    // Every response of the service has one of these in its JSON. Anything else is not whole, or comes from a proxy.
    const isWhole = ['success', 'fail', 'error'].includes(json?.status);
    const isOpen = !isWhole || REPEATED.includes(status) || json.code === 'idempotency_in_progress';
    if (!isOpen) return { status, json };
    const pause = Math.max(retryAfter, 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
    const elapsed = (Date.now() - startedAt) / 1000;
    if (attempt === 5 || retryAfter > 60 || elapsed + pause > 150) {
      if (isWhole) return { status, json };
      throw new Error('No whole response. Send the same request with the same key again later.');
    }
    await new Promise((resolve) => setTimeout(resolve, pause * 1000));
  }
}

/** The time limit is for the whole response, and not only for its beginning. */
async function attemptOnce(url, options, limitMs) {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(limitMs) }).catch(() => null);
  const json = await response?.json().catch(() => null);
  return { status: response?.status, retryAfter: secondsOf(response?.headers.get('retry-after')), json };
}

/** Retry-After is a number of seconds or a date. */
function secondsOf(value) {
  if (!value) return 0;
  return Number(value) >= 0 ? Number(value) : Math.max(0, (Date.parse(value) - Date.now()) / 1000 || 0);
}
