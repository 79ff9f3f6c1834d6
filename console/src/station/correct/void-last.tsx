import { VoidReceipt } from '../../find/void/void-receipt.js';
import type { Voidable } from '../../find/void/voidable.js';
import type { Received } from '../../queue/received.js';
import { t } from '../../texts/texts.js';
import { report } from '../report.js';
import { endCorrection, receivedBy } from './correcting.js';
import { forgetParcel } from './voided.js';

type Props = { parcel: Received; onOpen: (isOpen: boolean) => void };

/**
 * Takes the receipt of a parcel back that this user has received by mistake. Nothing before the service has answered the scan, and nothing
 * for a parcel that another scan has received: that receipt is somebody's who may have the parcel in the hand.
 */
export function VoidLast({ parcel, onOpen }: Props) {
  // The answer may come while the dialog is open.
  const { scan, result } = receivedBy(parcel.scan.scan_id) ?? parcel;
  const voidable = result?.outcome === 'done' ? voidableOf(result.parcel) : undefined;
  if (!voidable) return null;
  return (
    <div class="section actions">
      <VoidReceipt
        parcel={voidable}
        onOpen={onOpen}
        onDone={() => {
          endCorrection();
          const { tracking_number: number, package_id: id } = voidable;
          report('good', t('word.voided'), t('void.done', { number }), scan.request.scan);
          // A full disk is said by the notices. The receipt is void in any case.
          void forgetParcel(id).catch(() => undefined);
        }}
      />
    </div>
  );
}

function voidableOf(parcel: NonNullable<Received['result']>['parcel']): Voidable | undefined {
  const { package_id: id, house_number: house, status } = parcel ?? {};
  if (!parcel || !id || !house || !status) return undefined;
  return { ...parcel, package_id: id, house_number: house, status };
}
