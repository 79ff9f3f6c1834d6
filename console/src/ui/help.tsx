import type { PageInfo } from '../pages.js';
import { t } from '../texts/texts.js';
import { Dialog } from './parts.js';

type Props = { pages: PageInfo[]; isStaff: boolean; onClose: () => void };

const STATION_KEYS = [
  ['F2', 'help.correct'],
  ['F9', 'lock.now'],
] as const;

export function HelpDialog({ pages, isStaff, onClose }: Props) {
  const keys: [keys: string, text: string][] = [
    ...pages.map(({ title }, index): [string, string] => [`Alt ${index + 1}`, t(title)]),
    ['Alt S', t('help.search')],
    ...(isStaff ? [] : ([['Ctrl K', t('palette.title')]] as [string, string][])),
    ['Enter', t('help.enter')],
    ['Esc', t('help.escape')],
    ...(isStaff ? STATION_KEYS.map(([key, text]): [string, string] => [key, t(text)]) : []),
    ['Alt Y', t('help.confirm')],
    ['F1', t('help.help')],
  ];
  return (
    <Dialog title={t('help.title')} onClose={onClose}>
      <dl class="keys">
        {keys.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p>{t('help.scanner')}</p>
      <p>{t('help.scale')}</p>
    </Dialog>
  );
}
