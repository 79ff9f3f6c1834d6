import { signal } from '@preact/signals';
import { loadTeamTexts } from '../../texts/on-use/team.js';
import { t } from '../../texts/texts.js';
import { FormDialog } from './dialogs.js';
import { fieldFailuresOf } from './failure.js';
import { Form, Text, useForm } from './form.js';

type Asked = { confirm: (password: string) => Promise<void>; giveUp: () => void };

/** The action that waits for the password of the person. */
const asked = signal<Asked | undefined>(undefined);

/**
 * Sends an action that gives somebody access. If the login is too old for it, the person confirms it with the own password, and it is
 * sent once more, as a whole. Every page shows `PasswordQuestion`.
 *
 * @throws Error if the person gives up
 */
export async function confirmed<Result>(
  send: (confirmation: { current_password?: string }) => Promise<Result>,
): Promise<Result> {
  try {
    return await send({});
  } catch (error) {
    if (!('current_password' in fieldFailuresOf(error))) throw error;
  }
  await loadTeamTexts();
  return new Promise((resolve, reject) => {
    asked.value = {
      confirm: async (password) => resolve(await send({ current_password: password })),
      giveUp: () => reject(new Error(t('team.notConfirmed'))),
    };
  });
}

/** Asks for the password, over the dialog of the action. */
export const PasswordQuestion = () => asked.value && <Question of={asked.value} />;

function Question({ of: { confirm, giveUp } }: { of: Asked }) {
  const form = useForm(
    { current_password: '' },
    async ({ current_password }) => {
      await confirm(current_password);
      asked.value = undefined;
    },
    { fieldOf: { password_wrong: 'current_password' } },
  );
  const close = () => {
    asked.value = undefined;
    giveUp();
  };
  return (
    <FormDialog title={t('team.confirm')} onClose={close}>
      <p>{t('team.confirmWhy')}</p>
      <Form of={form} submit={t('team.confirmAction')}>
        <Text of={form} name="current_password" label={t('team.ownPassword')} type="password" isRequired />
      </Form>
    </FormDialog>
  );
}
