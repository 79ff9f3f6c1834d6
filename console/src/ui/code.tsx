/** So many last characters tell two parcels apart. Narrow screens shorten what comes before them. */
const TAIL = 8;
const LONG = 16;

/** A number on one line, which can be copied as a whole. */
export function Code({ text, isStrong }: { text: string | null | undefined; isStrong?: boolean }) {
  if (!text) return null;
  const names = isStrong ? 'mono strong code' : 'mono code';
  if (text.length <= LONG) return <span class={names}>{text}</span>;
  return (
    <span class={names} title={text}>
      <span class="code-head">{text.slice(0, -TAIL)}</span>
      {text.slice(-TAIL)}
    </span>
  );
}
