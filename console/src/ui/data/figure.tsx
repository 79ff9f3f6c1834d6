import type { ComponentChildren } from 'preact';
import type { AttentionItem } from '../../../../sdk/typescript/src/index.js';
import { number, t, textOf } from '../../texts/texts.js';

type FigureProps = { title: string; note?: string | undefined; children: ComponentChildren };

/** A figure with its name, and what to compare it with. It stands in a list of the class `figures`. */
export const Figure = ({ title, note, children }: FigureProps) => (
  <div class="figure">
    <dt>{title}</dt>
    <dd>{children}</dd>
    {note !== undefined && <dd class="figure-note">{note}</dd>}
  </div>
);

type WaitingProps = {
  items: AttentionItem[];
  /** Where the records of each kind are. A later version of the service may have more kinds. */
  links: Record<string, string>;
};

/** What waits for somebody. Kinds without records are left out. */
export function Waiting({ items, links }: WaitingProps) {
  const waiting = items.filter(({ count }) => count > 0);
  if (waiting.length === 0) return <p class="muted">{t('home.nothing')}</p>;
  return (
    <dl class="figures" data-testid="attention">
      {waiting.map(({ kind, count }) => (
        <Figure key={kind} title={textOf('attention', kind)}>
          {links[kind] ? <a href={links[kind]}>{number(count)}</a> : number(count)}
        </Figure>
      ))}
    </dl>
  );
}
