"""From the models of scikit-learn, XGBoost, LightGBM and CatBoost to a Forest."""
