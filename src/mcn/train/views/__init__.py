"""The recipe `views`: a perceptron on features mixed along motif random walks."""
