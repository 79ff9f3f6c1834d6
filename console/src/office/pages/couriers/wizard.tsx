import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { addTexts, t } from '../../../texts/texts.js';
import { useAction } from '../../../ui/load.js';
import { Heading, Problem } from '../../../ui/parts.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { confirmed } from '../../ui/own-password.js';
import { ContactFields, NameFields } from './details/detail-fields.js';
import { HandOver } from './hand-over.js';
import { detailsOf, type Created } from '../courier-parts.js';
import { wizardTexts } from '../../texts/wizard.js';

addTexts(wizardTexts);

const STEPS = ['details', 'user', 'rates', 'webhook', 'sheet'] as const;
type Step = (typeof STEPS)[number];

/** The steps to a new courier. It exists after the second one; rates and webhook may follow later. */
export function CourierWizard() {
  const [step, setStep] = useState<Step>('details');
  const [created, setCreated] = useState<Created>();
  return (
    <>
      <Heading title={t('couriers.new')} />
      <ol class="steps" aria-label={t('wizard.steps')}>
        {STEPS.map((each) => (
          <li key={each} aria-current={each === step ? 'step' : undefined}>
            {t(`wizard.${each}`)}
          </li>
        ))}
      </ol>
      {!created && (
        <CreateSteps
          step={step}
          onStep={setStep}
          onCreated={(made) => {
            setCreated(made);
            setStep('rates');
          }}
        />
      )}
      {created && step === 'rates' && <RatesStep of={created} onDone={() => setStep('webhook')} />}
      {created && step === 'webhook' && <WebhookStep of={created} onDone={() => setStep('sheet')} />}
      {created && step === 'sheet' && <HandOver of={created} />}
    </>
  );
}

type CreateProps = { step: Step; onStep: (step: Step) => void; onCreated: (created: Created) => void };

/** Details and user, which the service takes in one request. */
function CreateSteps({ step, onStep, onCreated }: CreateProps) {
  const form = useForm(
    { ...detailsOf(), courier_code: '', 'login.username': '', 'login.full_name': '', 'login.email': '' },
    async ({
      courier_code,
      'login.username': username,
      'login.full_name': full_name,
      'login.email': email,
      ...details
    }) => {
      try {
        const { data } = await api().couriers.manage({
          action: 'create',
          courier_code: courier_code.trim().toUpperCase(),
          ...details,
          login: {
            username: username.trim(),
            full_name: full_name.trim(),
            ...(email.trim() ? { email: email.trim() } : {}),
          },
        });
        if (data.api_key === undefined || !data.login) throw new Error(t('common.unexpected'));
        const { courier_id, courier_code: code, courier_name: name, api_key: apiKey, login } = data;
        onCreated({ courierId: courier_id, code, name, apiKey, login });
      } catch (error) {
        if (stepOf(error) === 'details') onStep('details');
        throw error;
      }
    },
    { fieldOf: { duplicate_courier_code: 'courier_code', duplicate_username: 'login.username' } },
  );
  if (step === 'details')
    return (
      <section class="card office-form" aria-label={t('wizard.details')}>
        <form
          class="stack"
          noValidate
          id={form.id}
          onSubmit={(event) => {
            event.preventDefault();
            onStep('user');
          }}
        >
          <Text
            of={form}
            name="courier_code"
            label={t('couriers.code')}
            hint={t('couriers.codeHint')}
            maxLength={10}
            isRequired
          />
          <NameFields of={form} />
          <ContactFields of={form} />
          <Problem text={form.error} />
          <div class="actions">
            <button
              type="submit"
              class="primary"
              disabled={form.values.courier_code.trim().length < 2 || form.values.courier_name.trim() === ''}
            >
              {t('wizard.next')}
            </button>
          </div>
        </form>
      </section>
    );
  return (
    <section class="card office-form" aria-label={t('wizard.user')}>
      <p>{t('wizard.userHint')}</p>
      <Form of={form} submit={t('wizard.create')}>
        <Text of={form} name="login.username" label={t('login.username')} maxLength={100} isRequired />
        <Text of={form} name="login.full_name" label={t('team.fullName')} maxLength={200} isRequired />
        <Text
          of={form}
          name="login.email"
          label={t('office.email')}
          hint={t('team.emailHint')}
          inputMode="email"
          maxLength={254}
        />
      </Form>
      <button type="button" class="quiet" onClick={() => onStep('details')}>
        {t('wizard.back')}
      </button>
    </section>
  );
}

/** Which step has the field that the service has refused. */
function stepOf(error: unknown): Step {
  const { code, errors = [] } = error as { code?: string; errors?: { field: string }[] };
  const isDetail = errors.some(({ field }) => field !== '' && !field.startsWith('login'));
  return code === 'duplicate_courier_code' || isDetail ? 'details' : 'user';
}

type StepProps = { of: Created; onDone: () => void };

function RatesStep({ of: { courierId }, onDone }: StepProps) {
  const copy = useAction(async () => {
    await api().rates.manage({ action: 'copy_default', courier_id: courierId });
    onDone();
  });
  return (
    <section class="card stack" aria-label={t('wizard.rates')}>
      <p>{t('wizard.ratesHint')}</p>
      <Problem text={copy.error} />
      <div class="actions">
        <button type="button" class="primary" onClick={onDone}>
          {t('wizard.keepDefault')}
        </button>
        <button type="button" disabled={copy.isBusy} onClick={() => copy.run()}>
          {t('wizard.copyDefault')}
        </button>
      </div>
    </section>
  );
}

function WebhookStep({ of: { courierId }, onDone }: StepProps) {
  const form = useForm({ api_url_add_package: '', api_url_update_package: '' }, async (values) => {
    const given = Object.entries(values).filter(([, url]) => url.trim() !== '');
    if (given.length > 0)
      await confirmed((confirmation) =>
        api().couriers.updateSettings({ id: courierId, ...Object.fromEntries(given), ...confirmation }),
      );
    onDone();
  });
  return (
    <section class="card office-form" aria-label={t('wizard.webhook')}>
      <p>{t('wizard.webhookHint')}</p>
      <Form of={form} submit={t('wizard.next')}>
        <Text
          of={form}
          name="api_url_add_package"
          label={t('endpoint.add_package')}
          inputMode="url"
          maxLength={2000}
        />
        <Text
          of={form}
          name="api_url_update_package"
          label={t('endpoint.update_package')}
          hint={t('webhooks.addressHint')}
          inputMode="url"
          maxLength={2000}
        />
      </Form>
    </section>
  );
}
