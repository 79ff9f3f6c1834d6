import { signal } from '@preact/signals';
import { play } from '../device/sound.js';
import { t } from '../texts/texts.js';
import { linkTo } from '../ui/router.js';

type Stray = { kind: 'weight'; weight: string } | { kind: 'scan' };

/** What a scale or a scanner has sent while a page could not take it and shows no results. */
export const stray = signal<Stray | undefined>(undefined);

export function takeStrayWeight(weight: string): void {
  stray.value = { kind: 'weight', weight };
  play('warn');
}

/** A scan behind a dialog. */
export function refuseStrayScan(): void {
  stray.value = { kind: 'scan' };
  play('bad');
}

export function StrayReading() {
  const last = stray.value;
  if (!last) return null;
  return (
    <p class="notice" role="status" data-testid="stray">
      {last.kind === 'scan' ? (
        t('scan.closeDialog')
      ) : (
        <>
          {t('scale.elsewhere', { weight: last.weight })} <a href={linkTo('receive')}>{t('receive.title')}</a>
        </>
      )}
    </p>
  );
}
