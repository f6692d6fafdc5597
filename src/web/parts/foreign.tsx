/** An address or a user name: letters that are the same in every language. It may break anywhere. */
export const Foreign = ({ text }: { text: string }) => (
  <bdi class="address" data-foreign>
    {text}
  </bdi>
)
