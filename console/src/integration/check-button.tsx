import { useState } from 'preact/hooks';
import { t } from '../texts/texts.js';
import { part } from '../ui/part.js';
import type { CheckedEndpoint } from './check-dialog.js';

const Dialog = part(async () => (await import('./check-dialog.js')).CheckDialog, { isOnUse: true });

type Props = {
  /** Undefined for the user's own courier. */
  courierId?: string | undefined;
  /** The addresses that are set. */
  endpoints: readonly CheckedEndpoint[];
};

/** A button that opens the check of a courier's addresses. Nothing without an address. */
export function CheckButton({ courierId, endpoints }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  if (endpoints.length === 0) return null;
  return (
    <>
      <button type="button" onClick={() => setIsOpen(true)}>
        {t('integration.open')}
      </button>
      {isOpen && <Dialog courierId={courierId} endpoints={endpoints} onClose={() => setIsOpen(false)} />}
    </>
  );
}

type Addresses = Record<`api_url_${CheckedEndpoint}`, string | null>;

/** Returns the addresses of a courier that are set. */
export const endpointsOf = (settings: Addresses): CheckedEndpoint[] =>
  (['add_package', 'update_package', 'get_customers'] as const).filter(
    (endpoint) => settings[`api_url_${endpoint}`],
  );
