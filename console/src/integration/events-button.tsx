import { useState } from 'preact/hooks';
import type { CourierSettings } from '../../../sdk/typescript/src/index.js';
import { t } from '../texts/texts.js';
import { part } from '../ui/part.js';

const Events = part(async () => (await import('./events-dialog.js')).EventsDialog, { isOnUse: true });

type Props = {
  /** Undefined for the user's own courier. */
  courierId?: string | undefined;
  endpoint: 'add_package' | 'update_package';
  settings: CourierSettings;
  onChanged: () => void;
};

/** The events of an address, and a button that opens their choice. */
export function EventsButton({ onChanged, ...of }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const { endpoint, settings } = of;
  return (
    <>
      <p class="mono muted break">{settings[`${endpoint}_events`].join(', ') || t('webhooks.noEvents')}</p>
      <button type="button" onClick={() => setIsOpen(true)}>
        {t('webhooks.events')}
        <span class="unseen"> {t(`endpoint.${endpoint}`)}</span>
      </button>
      {isOpen && (
        <Events
          {...of}
          onClose={() => setIsOpen(false)}
          onDone={() => {
            setIsOpen(false);
            onChanged();
          }}
        />
      )}
    </>
  );
}
