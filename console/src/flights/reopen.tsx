import { useState } from 'preact/hooks';
import type { ManifestDetail } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { number, pounds, t } from '../texts/texts.js';
import { useAction, useLoad } from '../ui/load.js';
import { Content, Dialog, Problem } from '../ui/parts.js';
import { linkTo } from '../ui/router.js';
import { useArmed } from './step-dialog.js';

type Props = { detail: ManifestDetail; onDone: () => void };

/** Takes a ready manifest back to draft. */
export function Reopen({ detail, onDone }: Props) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setIsAsking(true)}>
        {t('manifests.reopen')}
      </button>
      {isAsking && (
        <ReopenDialog
          detail={detail}
          onClose={() => setIsAsking(false)}
          onDone={() => {
            setIsAsking(false);
            onDone();
          }}
        />
      )}
    </>
  );
}

/** Names the effect. Loaded parcels must be taken off first: the service refuses otherwise. */
function ReopenDialog({ detail, onClose, onDone }: Props & { onClose: () => void }) {
  const { manifest_id, manifest_number } = detail.info;
  const loading = useLoad(
    async (signal) => (await api().manifests.loading({ manifest_id, limit: 1 }, { signal })).data.counts,
    [manifest_id],
  );
  return (
    <Dialog title={`${t('manifests.reopen')} · ${manifest_number}`} onClose={onClose}>
      <Content of={loading}>
        {({ loaded, extra }) =>
          loaded + extra > 0 ? (
            <Loaded count={loaded + extra} manifestId={manifest_id} onClose={onClose} />
          ) : (
            <Question detail={detail} onClose={onClose} onDone={onDone} />
          )
        }
      </Content>
    </Dialog>
  );
}

const Loaded = (props: { count: number; manifestId: string; onClose: () => void }) => (
  <div class="stack">
    <p>{t('manifests.stillLoaded', { count: props.count })}</p>
    <div class="actions">
      <button type="button" class="dialog-first" onClick={props.onClose}>
        {t('common.cancel')}
      </button>
      <a class="button primary" href={linkTo('load', props.manifestId)}>
        {t('manifests.load')}
      </a>
    </div>
  </div>
);

function Question({ detail, onClose, onDone }: Props & { onClose: () => void }) {
  const { info, stats } = detail;
  const isArmed = useArmed();
  const reopen = useAction(async () => {
    await api().manifests.manage({ action: 'reopen_manifest', manifest_id: info.manifest_id });
    onDone();
  });
  return (
    <div class="stack">
      <p>{t('manifests.askReopen', { count: stats.total_count, weight: pounds(stats.total_weight_lb) })}</p>
      <Problem text={reopen.error} />
      <div class="actions">
        <button type="button" class="dialog-first" onClick={onClose}>
          {t('common.cancel')}
        </button>
        <button
          type="button"
          class="primary"
          disabled={!isArmed || reopen.isBusy}
          onClick={() => reopen.run()}
        >
          {t('manifests.reopen')} ({number(stats.total_count)})
        </button>
      </div>
    </div>
  );
}
