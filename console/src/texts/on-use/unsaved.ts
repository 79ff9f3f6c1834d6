/** The question before changes are lost. It loads with the long forms. */
export const unsavedEn = {
  'unsaved.title': 'Leave without saving?',
  'unsaved.effect': 'If you leave, your changes are lost: {what}.',
  'unsaved.stay': 'Stay and go on',
  'unsaved.leave': 'Leave without saving',
} as const;

export type UnsavedKey = keyof typeof unsavedEn;

export const unsavedEs: Record<UnsavedKey, string> = {
  'unsaved.title': '¿Salir sin guardar?',
  'unsaved.effect': 'Si sale, se pierden sus cambios: {what}.',
  'unsaved.stay': 'Quedarse y seguir',
  'unsaved.leave': 'Salir sin guardar',
};
