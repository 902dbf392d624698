"""Other ways to publish, to compare with: each turns samples into boxes that an audit can attack."""
