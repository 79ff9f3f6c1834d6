import { useId, useState } from 'preact/hooks';
import type { CourierSettings } from '../../../../../../sdk/typescript/src/index.js';
import { api } from '../../../../session/session.js';
import { t } from '../../../../texts/texts.js';
import { useAction } from '../../../../ui/load.js';
import { Problem } from '../../../../ui/parts.js';
import { ConfirmDialog } from '../../../ui/dialogs.js';
import { toast } from '../../../ui/toasts.js';

type Props = {
  /** Undefined for the user's own courier. */
  courierId?: string;
  settings: CourierSettings;
  onChanged: () => void;
};

/** The logo, which bills and the couriers' pages show. The service checks and cleans it. */
export function Logo({ courierId, settings: { logo_path, courier_name }, onChanged }: Props) {
  const named = courierId === undefined ? {} : { courier_id: courierId };
  const id = useId();
  const [isAsking, setIsAsking] = useState(false);
  const upload = useAction(async (file: File) => {
    await api().couriers.uploadLogo({ logo: file, ...named });
    toast(t('logo.stored'));
    onChanged();
  });
  return (
    <section class="card office-form" aria-label={t('logo.title')}>
      <h2>{t('logo.title')}</h2>
      {logo_path ? (
        <img class="logo" src={`/${logo_path}`} alt={t('logo.of', { name: courier_name })} />
      ) : (
        <p class="muted">{t('logo.none')}</p>
      )}
      <div class="field">
        <label for={id}>{t(logo_path ? 'logo.replace' : 'logo.choose')}</label>
        <input
          id={id}
          type="file"
          accept=".png,.jpg,.jpeg,.svg,image/png,image/jpeg,image/svg+xml"
          aria-describedby={`${id}-hint`}
          disabled={upload.isBusy}
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            if (file) upload.run(file);
            // The same file can be chosen again after a failure.
            currentTarget.value = '';
          }}
        />
        <span id={`${id}-hint`} class="field-hint">
          {t('logo.hint')}
        </span>
      </div>
      <Problem text={upload.error} />
      {logo_path && (
        <div class="actions">
          <button type="button" class="danger" onClick={() => setIsAsking(true)}>
            {t('logo.delete')}
          </button>
        </div>
      )}
      {isAsking && (
        <ConfirmDialog
          title={t('logo.delete')}
          effect={t('logo.deleteEffect')}
          action={t('logo.delete')}
          onClose={() => setIsAsking(false)}
          run={async () => {
            await api().couriers.deleteLogo(named);
            toast(t('logo.deleted'));
            onChanged();
          }}
        />
      )}
    </section>
  );
}
