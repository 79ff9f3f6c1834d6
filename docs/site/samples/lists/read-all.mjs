/** Returns every pre-alert that is more than a minute old, each once, as it was when its page was read. */
export async function readAll(host, token, limit = 500) {
  const read = async (page) => {
    // No filter on the status: it would skip records whose status changes in the meantime.
    const query = new URLSearchParams({ sort_by: 'created_at', sort_dir: 'ASC', limit, page });
    const response = await fetch(`${host}/api/ManagePrealerts.php?${query}`, {
      headers: { Authorization: `Bearer ${token}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const found = new Map();
  // From the last page to the first: a record that is deleted moves only others that were read already.
  for (let page = (await read(1)).meta.total_pages; page > 0; page -= 1)
    for (const record of (await read(page)).data)
      if (!found.has(record.prealert_id)) found.set(record.prealert_id, record);
  return [...found.values()];
}
