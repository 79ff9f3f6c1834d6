import { api } from '../session/session.js';
import { saveFile } from '../staff/label.js';
import { t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Problem } from '../ui/parts.js';

type Props = { manifest: { manifest_id: string; manifest_number: string } };

/** The cargo manifest as files. The session is a cookie that a link does not send, so the client fetches them. */
export const Documents = ({ manifest }: Props) => (
  <div class="actions">
    {(['pdf', 'xlsx', 'csv'] as const).map((format) => (
      <Document key={format} manifest={manifest} format={format} />
    ))}
  </div>
);

function Document({ manifest, format }: Props & { format: 'pdf' | 'xlsx' | 'csv' }) {
  const { manifest_id, manifest_number } = manifest;
  const download = useAction(async () => {
    const file = await api().manifests.document({ manifest_id, format });
    await saveFile(file, `${manifest_number}.${format}`);
  });
  return (
    <>
      <button type="button" class="quiet" disabled={download.isBusy} onClick={() => download.run()}>
        {format.toUpperCase()}
        <span class="unseen"> {t('manifests.document')}</span>
      </button>
      <Problem text={download.error} />
    </>
  );
}
