/** The texts of the wizard for a new courier. They load with it. */
const wizardEn = {
  'wizard.steps': 'Steps',
  'wizard.details': 'Details',
  'wizard.user': 'First user',
  'wizard.rates': 'Rates',
  'wizard.webhook': 'Webhook',
  'wizard.sheet': 'Hand-over',
  'wizard.next': 'Continue',
  'wizard.back': 'Back to the details',
  'wizard.create': 'Create the courier',
  'wizard.userHint':
    'The person at the courier who logs in first. The password is made for you, and must be changed at the first login.',
  'wizard.ratesHint':
    'The courier is created. It is billed by the default rates. Copy them if it shall have its own.',
  'wizard.keepDefault': 'Keep the default rates',
  'wizard.copyDefault': 'Copy them as its own',
  'wizard.webhookHint':
    'Where the system of the courier gets news of its parcels. The courier can set this later itself.',
} as const;

export type WizardKey = keyof typeof wizardEn;

const wizardEs: Record<WizardKey, string> = {
  'wizard.steps': 'Pasos',
  'wizard.details': 'Datos',
  'wizard.user': 'Primer usuario',
  'wizard.rates': 'Tarifas',
  'wizard.webhook': 'Webhook',
  'wizard.sheet': 'Entrega',
  'wizard.next': 'Continuar',
  'wizard.back': 'Volver a los datos',
  'wizard.create': 'Crear el courier',
  'wizard.userHint':
    'La persona del courier que entra primero. La contraseña se crea para usted, y hay que cambiarla al entrar por primera vez.',
  'wizard.ratesHint':
    'El courier está creado. Se le factura con las tarifas generales. Cópielas si debe tener propias.',
  'wizard.keepDefault': 'Dejar las tarifas generales',
  'wizard.copyDefault': 'Copiarlas como propias',
  'wizard.webhookHint':
    'Donde el sistema del courier recibe noticias de sus paquetes. El courier puede configurarlo después.',
};

export const wizardTexts = { en: wizardEn, es: wizardEs };
