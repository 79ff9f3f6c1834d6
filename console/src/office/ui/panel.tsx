import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../texts/texts.js';
import { openAddress } from '../../ui/router.js';

type Props = { title: string; closeLink: string; children: ComponentChildren };

/** An object beside the list that it was opened from. Escape closes it and leads back to its row. */
export function Panel({ title, closeLink, children }: Props) {
  const panel = useRef<HTMLElement>(null);
  const row = useRef(document.activeElement);
  const close = () => {
    openAddress(closeLink);
    if (row.current instanceof HTMLElement) row.current.focus();
  };
  useEffect(() => panel.current?.focus(), []);
  return (
    <aside
      ref={panel}
      class="panel"
      tabIndex={-1}
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || document.querySelector('dialog[open]')) return;
        event.preventDefault();
        close();
      }}
    >
      <div class="heading">
        <h2>{title}</h2>
        <button type="button" class="quiet" onClick={close}>
          {t('common.close')}
        </button>
      </div>
      {children}
    </aside>
  );
}

type Facts = [label: string, value: ComponentChildren][];

/** What is known of an object. Unknown values are left out. */
export const FactList = ({ facts }: { facts: Facts }) => (
  <dl class="fact-list">
    {facts
      .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
      .map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
