/** The texts of voiding a receipt. They load with its dialog. */
export const voidEn = {
  'void.effect':
    'The parcel was received by mistake and is not here. Its history and its labels are deleted, its announcements are open again, and its number can be received again. The courier is told.',
  'void.instead':
    'If the parcel is here and only a number, a weight or the owner is wrong, correct it instead.',
  'void.final': 'This cannot be undone. The audit log keeps it, with your name.',
  'void.reason': 'Why is the receipt void?',
  'void.reasonMissing': 'Say why.',
  'void.action': 'Void the receipt',
} as const;

export type VoidKey = keyof typeof voidEn;

export const voidEs: Record<VoidKey, string> = {
  'void.effect':
    'El paquete se recibió por error y no está aquí. Se borran su historial y sus etiquetas, sus avisos quedan abiertos de nuevo y su número se puede recibir otra vez. El courier se entera.',
  'void.instead': 'Si el paquete está aquí y solo un número, un peso o el dueño está mal, corríjalo.',
  'void.final': 'Esto no se puede deshacer. El registro de auditoría lo guarda, con su nombre.',
  'void.reason': '¿Por qué se anula la recepción?',
  'void.reasonMissing': 'Diga por qué.',
  'void.action': 'Anular la recepción',
};

export const voidTexts = { en: voidEn, es: voidEs };
