/** A parsed scrape. Reading it checks the rules of Prometheus's text format. */
export type Scrape = {
  /** The value of each series as written: `name` or `name{label="value"}`, with sorted labels. */
  values: Map<string, number>;
  types: Map<string, string>;
  series: Series[];
  text: string;
};

type Series = { name: string; labels: Record<string, string>; value: number };

const COMMENT = /^# (?<kind>HELP|TYPE) (?<name>[a-zA-Z_:][\w:]*) (?<rest>.+)$/;
const SAMPLE =
  /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>[+-]?(?:Inf|[Nn]a[Nn]|\d[\d.e+-]*))$/;
const LABEL = /(?<name>[a-zA-Z_]\w*)="(?<value>(?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

export async function scrape(port: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A scrape returned ${response.status}: ${text}`);
  return readExposition(text);
}

/** @throws Error if Prometheus would reject the text */
function readExposition(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('The last line has no line break.');
  const found: Scrape = { values: new Map(), types: new Map(), series: [], text };
  const helped = new Set<string>();
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const { kind, name = '', rest = '' } = COMMENT.exec(line)?.groups ?? {};
    if (kind === 'HELP') helped.add(name);
    else if (kind === 'TYPE') {
      if (found.types.has(name)) throw new Error(`${name} occurs twice.`);
      found.types.set(name, rest);
    } else addSample(found, line);
  }
  for (const name of found.types.keys()) if (!helped.has(name)) throw new Error(`${name} has no help.`);
  checkHistograms(found);
  return found;
}

function addSample(found: Scrape, line: string): void {
  const { name, labels: labelText = '', value } = SAMPLE.exec(line)?.groups ?? {};
  if (!name) throw new Error(`No sample: ${line}`);
  const family = found.types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
  if (!found.types.has(family)) throw new Error(`${name} has no type.`);
  if (found.types.get(family) === 'counter' && !family.endsWith('_total'))
    throw new Error(`The name of the counter ${name} does not end in _total.`);
  const labels = readLabels(labelText);
  const key = keyOf(name, labels);
  if (found.values.has(key)) throw new Error(`${key} occurs twice.`);
  const number = value === '+Inf' ? Infinity : Number(value?.replace(/nan/i, 'NaN'));
  found.values.set(key, number);
  found.series.push({ name, labels, value: number });
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  let read = 0;
  while (read < text.length) {
    const match = LABEL.exec(text);
    if (!match?.groups) throw new Error(`No labels: ${text}`);
    labels[match.groups['name'] ?? ''] = match.groups['value'] ?? '';
    read = LABEL.lastIndex;
  }
  return labels;
}

export function keyOf(name: string, labels: Record<string, string>): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.length === 0
    ? name
    : `${name}{${pairs.map(([label, value]) => `${label}="${value}"`).join()}}`;
}

/** Checks that buckets are cumulative and that the last one equals the count. */
function checkHistograms({ series, types, values }: Scrape): void {
  for (const [family, type] of types) {
    if (type !== 'histogram') continue;
    const last = new Map<string, number>();
    for (const { name, labels, value } of series) {
      if (name !== `${family}_bucket`) continue;
      const { le, ...others } = labels;
      const key = keyOf(family, others);
      if (value < (last.get(key) ?? 0)) throw new Error(`${key} decreases at ${le}.`);
      last.set(key, value);
      if (le === '+Inf' && values.get(keyOf(`${family}_count`, others)) !== value)
        throw new Error(`The count of ${key} differs from its last bucket.`);
    }
  }
}

/** Returns by how much each series of a name grew between two scrapes, without the unchanged ones. */
export function growth(before: Pick<Scrape, 'values'>, after: Scrape, name: string): Record<string, number> {
  const grown = after.series
    .filter((series) => series.name === name)
    .map(({ labels, value }): [string, number] => {
      const key = keyOf(name, labels);
      return [key.slice(name.length), value - (before.values.get(key) ?? 0)];
    });
  return Object.fromEntries(grown.filter(([, difference]) => difference !== 0));
}
