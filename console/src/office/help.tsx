import { t } from '../texts/texts.js';
import { Dialog } from '../ui/parts.js';

const KEYS = [
  ['Ctrl K', 'palette.title'],
  ['Alt S', 'help.search'],
  ['J ↓', 'office.keyDown'],
  ['K ↑', 'office.keyUp'],
  ['Enter', 'office.keyOpen'],
  ['X', 'office.keySelect'],
  ['Esc', 'office.keyClose'],
  ['F1', 'help.help'],
] as const;

export const OfficeHelp = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={t('help.title')} onClose={onClose}>
    <dl class="keys">
      {KEYS.map(([key, text]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{t(text)}</dd>
        </div>
      ))}
    </dl>
    <p>{t('office.scanHint')}</p>
  </Dialog>
);
