/** Sends a request with an Idempotency-Key until it has a final response. Returns null if the last attempt got none. */
export async function sendSafely(url, options, attempts = 6) {
  const headers = { ...options.headers, 'Idempotency-Key': crypto.randomUUID() };
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, { signal: AbortSignal.timeout(30_000), ...options, headers }).catch(
      () => null,
    );
    const body = await response
      ?.clone()
      .json()
      .catch(() => null);
    const isOpen =
      !response ||
      [408, 429].includes(response.status) ||
      response.status >= 500 ||
      body?.code === 'idempotency_in_progress';
    if (!isOpen || attempt === attempts) return response;
    const seconds = Number(response?.headers.get('retry-after')) || Math.random() * 2 ** attempt;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}
