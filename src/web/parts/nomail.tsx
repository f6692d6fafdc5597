import type { View } from '../kit/page.js'

/** Says what does not work without mail, and how to configure it. */
export const NoMail = ({ view: { t, sendsMail } }: { view: View }) =>
  sendsMail ? null : (
    <div class="note" role="note">
      <p>{t('mails.notConfigured')}</p>
      <code>feedbackctl config set mail.url smtp://USER:PASSWORD@HOST:587</code>
    </div>
  )
