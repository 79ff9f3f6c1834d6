/** The texts of the PIN. They load with its forms. */
export const pinEn = {
  'pin.who': 'Who takes over?',
  'pin.field': 'PIN of {name}',
  'pin.submit': 'Take over',
  'pin.orPassword': 'Or log in with the password:',
  'pin.hint':
    'With a PIN you take over a station that somebody else uses, or that is locked. It works only in this browser, for 12 hours after you have logged in here with your password.',
  'pin.new': 'New PIN',
  'pin.rule': '6 to 8 digits. Not 121212 or 234567.',
  'pin.again': 'New PIN again',
  'pin.different': 'The two PINs are different.',
  'pin.set': 'Set the PIN',
  'pin.works': 'Your PIN works here until {at}.',
  'pin.notHere': 'Your PIN does not work here now. Log in here with your password.',
  'pin.forget': 'Forget me here until my next login',
  'pin.remove': 'Delete the PIN',
  'pin.none': 'You have no PIN.',
} as const;

export type PinKey = keyof typeof pinEn;

export const pinEs: Record<PinKey, string> = {
  'pin.who': '¿Quién entra?',
  'pin.field': 'PIN de {name}',
  'pin.submit': 'Entrar con el PIN',
  'pin.orPassword': 'O entre con la contraseña:',
  'pin.hint':
    'Con un PIN usted entra en una estación que otra persona usa o que está bloqueada. Solo sirve en este navegador, durante 12 horas después de entrar aquí con su contraseña.',
  'pin.new': 'PIN nuevo',
  'pin.rule': 'De 6 a 8 cifras. No 121212 ni 234567.',
  'pin.again': 'PIN nuevo otra vez',
  'pin.different': 'Los dos PIN son distintos.',
  'pin.set': 'Guardar el PIN',
  'pin.works': 'Su PIN sirve aquí hasta {at}.',
  'pin.notHere': 'Su PIN no sirve aquí ahora. Entre aquí con su contraseña.',
  'pin.forget': 'Olvidarme aquí hasta que vuelva a entrar',
  'pin.remove': 'Borrar el PIN',
  'pin.none': 'Usted no tiene PIN.',
};
